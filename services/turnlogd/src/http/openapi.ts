import { ERROR_CODES, type OperationName, operations, subscriptions } from '@turnlog/events';

type Json = Record<string, unknown>;

const errorResponse = { $ref: '#/components/responses/Error' };

/** Everything that HTTP offers, as OpenAPI 3.1, made of the registry of operations. */
export function openApiDocument(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'turnlog',
      version,
      description: 'Keeps the conversations of AI agents: every turn an event in an append-only log.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    security: [{ token: [] }],
    paths: {
      ...Object.fromEntries(
        Object.keys(operations).map((name) => [`/v1/${name}`, operationPath(name as OperationName)]),
      ),
      '/v1/events': stream('log.subscribe', 'The log from a seq on, and then as it grows.'),
      '/v1/live': stream('live.subscribe', 'The live events of bridges.'),
      '/v1/ws': webSocketPath(),
      '/healthz': open('healthz', 'Whether the daemon runs.'),
      '/readyz': open('readyz', 'Whether the daemon accepts events.', { 503: state('It does not.') }),
      '/metrics': document('metrics', 'Figures for Prometheus.', 'text/plain'),
      '/openapi.json': document('openapi', 'This document.', 'application/json'),
    },
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'What the file "token" in the data directory holds.',
        },
      },
      responses: {
        Error: {
          description: 'Nothing was done, unless the code says otherwise.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['error'],
                properties: { error: { $ref: '#/components/schemas/Error' } },
                additionalProperties: false,
              },
            },
          },
        },
      },
      schemas: {
        Error: {
          type: 'object',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string', enum: Object.keys(ERROR_CODES) },
            message: { type: 'string' },
            details: { type: 'object' },
          },
          additionalProperties: false,
        },
      },
    },
  };
}

function operationPath(name: OperationName): Json {
  const { writes, parameters, result } = operations[name];
  return {
    post: {
      operationId: name,
      tags: [name.slice(0, name.indexOf('.'))],
      'x-turnlog-writes': writes,
      requestBody: {
        required: true,
        content: { 'application/json': { schema: plain(parameters) } },
      },
      responses: {
        200: {
          description: writes ? 'It is on disk.' : 'What was asked for.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['result'],
                properties: { result: plain(result) },
                additionalProperties: false,
              },
            },
          },
        },
        default: errorResponse,
      },
    },
  };
}

function stream(name: keyof typeof subscriptions, description: string): Json {
  const { properties } = subscriptions[name].parameters;
  return {
    get: {
      operationId: name,
      description,
      parameters: [
        ...Object.entries(properties).map(([field, schema]) => ({
          name: field,
          in: 'query',
          schema: plain(schema),
        })),
        {
          name: 'Last-Event-ID',
          in: 'header',
          description: 'The last seq that was read; goes before "from".',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: {
          description: 'Server-sent events; the id is the seq, the data an event as JSON.',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        default: errorResponse,
      },
    },
  };
}

function webSocketPath(): Json {
  return {
    get: {
      operationId: 'ws',
      description:
        'A WebSocket that speaks JSON-RPC 2.0. Its first request is "auth" with the parameter "token"; then every ' +
        'operation and subscription by its name.',
      security: [],
      responses: { 101: { description: 'Go on as a WebSocket.' }, default: errorResponse },
    },
  };
}

function open(operationId: string, description: string, more: Json = {}): Json {
  return {
    get: {
      operationId,
      description,
      security: [],
      responses: { 200: state('It does.'), ...more, default: errorResponse },
    },
  };
}

function state(description: string): Json {
  const schema = { type: 'object', required: ['status'], properties: { status: { type: 'string' } } };
  return { description, content: { 'application/json': { schema } } };
}

function document(operationId: string, description: string, mediaType: string): Json {
  return {
    get: {
      operationId,
      description,
      responses: { 200: { description, content: { [mediaType]: {} } }, default: errorResponse },
    },
  };
}

/** A schema as JSON: what makes it a validator is left out. */
function plain(schema: object): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
