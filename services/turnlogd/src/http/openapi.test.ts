import { ERROR_CODES, type OperationName, operations } from '@turnlog/events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from './openapi.ts';

type Node = Record<string, unknown>;

const METHODS = new Set(['get', 'post', 'put', 'delete', 'patch', 'head', 'options', 'trace']);
const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as Node;
const paths = document.paths as Record<string, Record<string, Node>>;

function at(node: unknown, ...fields: string[]): unknown {
  return fields.reduce((inner, field) => (inner as Node | undefined)?.[field], node);
}

/** Every object of the document, with where it is. */
function* nodes(value: unknown, place = '#'): Generator<[place: string, node: Node]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Node];
  for (const [field, inner] of Object.entries(value)) yield* nodes(inner, `${place}/${field}`);
}

test('openapi: the document has what version 3.1 asks for', () => {
  assert.match(document.openapi as string, /^3\.1\.\d+$/);
  assert.is(at(document, 'info', 'version'), '1.2.3');
  assert.type(at(document, 'info', 'title'), 'string');
  const ids = new Set<unknown>();
  for (const [path, item] of Object.entries(paths)) {
    assert.match(path, /^\//);
    for (const [method, operation] of Object.entries(item)) {
      assert.ok(METHODS.has(method), `${path} ${method}`);
      assert.not.ok(ids.has(operation.operationId), `${path}: operationId is not unique`);
      ids.add(operation.operationId);
      const responses = operation.responses as Record<string, Node>;
      assert.ok(Object.keys(responses).length > 0);
      for (const [status, response] of Object.entries(responses)) {
        assert.match(status, /^(\d{3}|default)$/);
        assert.ok(typeof response.description === 'string' || typeof response.$ref === 'string');
      }
      for (const parameter of (operation.parameters ?? []) as Node[]) {
        assert.ok(['query', 'header'].includes(parameter.in as string));
        assert.type(parameter.name, 'string');
        assert.ok(parameter.schema !== undefined);
      }
    }
  }
});

test('openapi: every operation is in it, with its parameters, its result and the shape of errors', () => {
  for (const name of Object.keys(operations) as OperationName[]) {
    const post = paths[`/v1/${name}`]?.post;
    assert.is(post?.operationId, name);
    const parameters = at(post, 'requestBody', 'content', 'application/json', 'schema') as Node;
    assert.equal(
      Object.keys(parameters.properties as Node),
      Object.keys(operations[name].parameters.properties),
    );
    assert.is(parameters.additionalProperties, false, name);
    const answer = at(
      post,
      'responses',
      '200',
      'content',
      'application/json',
      'schema',
      'properties',
      'result',
    );
    assert.equal(
      Object.keys((answer as Node).properties as Node),
      Object.keys(operations[name].result.properties),
    );
    assert.equal(at(post, 'responses', 'default'), { $ref: '#/components/responses/Error' });
    assert.is(Object.hasOwn(parameters.properties as Node, 'commandId'), operations[name].writes, name);
  }
});

test('openapi: errors have every code', () => {
  const error = at(document, 'components', 'schemas', 'Error') as Node;
  assert.equal(at(error, 'properties', 'code', 'enum'), Object.keys(ERROR_CODES));
  assert.equal(error.required, ['code', 'message']);
});

test('openapi: every reference leads somewhere, and every schema is one', () => {
  const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
  let references = 0;
  for (const [place, node] of nodes(document)) {
    if (typeof node.$ref === 'string') {
      references += 1;
      assert.ok(at(document, ...node.$ref.slice(2).split('/')) !== undefined, `${place}: ${node.$ref}`);
    }
    const isSchema = /\/(schema|items|additionalProperties|properties\/[^/]+|anyOf\/\d+)$/.test(place);
    if (!isSchema || place.includes('/properties/type')) continue;
    if (node.type !== undefined) assert.ok(types.has(node.type as string), `${place}: ${String(node.type)}`);
    for (const field of Object.keys(node)) assert.not.match(field, /^~/, place);
    if (Array.isArray(node.required)) {
      for (const field of node.required)
        assert.ok(Object.hasOwn(node.properties as Node, field), `${place}: ${field}`);
    }
  }
  assert.ok(references > Object.keys(operations).length);
});

test('openapi: only what says nothing but its state is open', () => {
  const open = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).some(({ security }) => security !== undefined) ? [path] : [],
  );
  assert.equal(open, ['/v1/ws', '/healthz', '/readyz']);
});

test.run();
