import { ERROR_CODES, type ErrorCode, TurnlogError } from '@turnlog/events';
import type { FastifyInstance } from 'fastify';
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
