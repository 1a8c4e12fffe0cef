import type { Socket } from 'node:net';
import { ERROR_CODES, type ErrorCode, TurnlogError } from '@turnlog/events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DaemonError } from '../errors.ts';
import { errorBodyOf } from '../operations/dispatcher.ts';

/** The largest request body. A transcript is sent whole, and may be long. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Lets every refusal leave in the one shape of errors, those of the HTTP library too. */
export function answerErrors(server: FastifyInstance): void {
  server.setNotFoundHandler(() => {
    throw new DaemonError(
      'operation_not_found',
      'there is nothing here; operations are POST /v1/<operation>',
    );
  });
  server.setErrorHandler((error, request, reply) => {
    const known = error instanceof TurnlogError ? error : refusalOf(error as NodeJS.ErrnoException);
    const body = errorBodyOf(known);
    if (body.code === 'internal') request.log.error({ err: error }, 'an operation has failed');
    return reply.status(ERROR_CODES[body.code].httpStatus).send({ error: body });
  });
}

/** What the HTTP library refuses before a request has a handler. */
export function answerFrameworkError(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  const body = errorBodyOf(refusalOf(error as NodeJS.ErrnoException));
  void reply.status(ERROR_CODES[body.code].httpStatus).send({ error: body });
}

/** What the HTTP library itself refuses, in our codes. */
const REFUSALS: Readonly<Record<string, { code: ErrorCode; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'too_large',
    message: `the body is over the limit of ${BODY_BYTES_MAX} bytes`,
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'invalid_argument',
    message: 'send a JSON object with the header "content-type: application/json"',
  },
  FST_ERR_BAD_URL: { code: 'invalid_argument', message: 'the path is not a valid URL' },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'invalid_argument', message: 'the body is not valid JSON' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'invalid_argument', message: 'the body is empty; send a JSON object' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'invalid_argument',
    message: 'the body is not as long as its Content-Length says',
  },
};

function refusalOf(error: NodeJS.ErrnoException & { statusCode?: number }): unknown {
  const refusal = REFUSALS[error.code ?? ''];
  if (refusal !== undefined) return new DaemonError(refusal.code, refusal.message);
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new DaemonError('invalid_argument', 'the request is not valid');
  }
  return error;
}

/** Answers what is no HTTP at all, or too long a header, before there is a request. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const code = isTooLong ? 'too_large' : 'invalid_argument';
  const message = isTooLong ? 'the headers are too long' : 'this is not a valid HTTP request';
  const body = JSON.stringify({ error: { code, message } });
  const status = isTooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/**
 * Reads a body as JSON. Bytes that are no UTF-8 are refused: replaced by U+FFFD, two keys would become one.
 */
export function acceptJson(server: FastifyInstance): void {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    JSON_TYPE,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      const encoding = request.headers['content-encoding'];
      if (encoding !== undefined && encoding !== 'identity') {
        throw new DaemonError('invalid_argument', 'send the body as it is, without a content-encoding');
      }
      try {
        return JSON.parse(decoder.decode(body)) as unknown;
      } catch {
        throw new DaemonError('invalid_argument', 'the body is not valid JSON in UTF-8');
      }
    },
  );
}

/** With no charset, or with the one that JSON has. */
const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
