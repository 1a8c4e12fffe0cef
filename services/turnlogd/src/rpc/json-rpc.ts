import type { ErrorBody, ErrorCode } from '@turnlog/events';
import { DaemonError } from '../errors.ts';

/* JSON-RPC 2.0 as text: what a frame asks, and how it is answered. Knows no transport and no operation. */

/** The most requests in one frame. */
export const BATCH_REQUESTS_MAX = 100;

export type RpcId = string | number | null;

export interface RpcRequest {
  /** Undefined for a notification, which is not answered. */
  id: RpcId | undefined;
  method: string;
  parameters: object;
}

export type RpcResponse =
  | { jsonrpc: '2.0'; id: RpcId; result: unknown }
  | { jsonrpc: '2.0'; id: RpcId; error: { code: number; message: string; data: ErrorBody } };

/** One of the things that a frame asks; what is no request is answered as it stands. */
export type RpcPart = { request: RpcRequest } | { refusal: RpcResponse };

export interface RpcFrame {
  /** The answers go back in one frame, too. */
  isBatch: boolean;
  parts: RpcPart[];
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The numbers that JSON-RPC itself gives a meaning; any other error is one of the server's. */
const NUMBERS: Partial<Record<ErrorCode, number>> = {
  operation_not_found: -32_601,
  invalid_argument: -32_602,
  internal: -32_603,
};
const SERVER_ERROR = -32_000;

export function parseFrame(text: string): RpcFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return single(refused(null, PARSE_ERROR, 'the frame is not valid JSON'));
  }
  if (!Array.isArray(value)) return single(partOf(value));
  if (value.length === 0) return single(refused(null, INVALID_REQUEST, 'a batch holds at least one request'));
  if (value.length > BATCH_REQUESTS_MAX) {
    return single(refused(null, INVALID_REQUEST, `a batch holds at most ${BATCH_REQUESTS_MAX} requests`));
  }
  return { isBatch: true, parts: value.map(partOf) };
}

export function success(id: RpcId, result: unknown): RpcResponse {
  return { jsonrpc: '2.0', id, result };
}

export function failure(id: RpcId, body: ErrorBody): RpcResponse {
  const { code, message } = body;
  return { jsonrpc: '2.0', id, error: { code: NUMBERS[code] ?? SERVER_ERROR, message, data: body } };
}

/** What nobody asked for: an event of a subscription. */
export function notification(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

function partOf(value: unknown): RpcPart {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refused(null, INVALID_REQUEST, 'a request is a JSON object');
  }
  const { jsonrpc, id, method, params = {} } = value as Record<string, unknown>;
  if (!isId(id)) return refused(null, INVALID_REQUEST, 'id must be a string, a number or null');
  if (jsonrpc !== '2.0') return refused(id ?? null, INVALID_REQUEST, 'jsonrpc must be "2.0"');
  if (typeof method !== 'string') return refused(id ?? null, INVALID_REQUEST, 'method must be a string');
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    const body = new DaemonError(
      'invalid_argument',
      'params must be an object: parameters go by name',
    ).toBody();
    return id === undefined ? refused(null, INVALID_REQUEST, body.message) : { refusal: failure(id, body) };
  }
  return { request: { id, method, parameters: params } };
}

function isId(id: unknown): id is RpcId | undefined {
  return id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
}

function refused(id: RpcId, number: number, message: string): RpcPart {
  const data: ErrorBody = { code: 'invalid_argument', message };
  return { refusal: { jsonrpc: '2.0', id, error: { code: number, message, data } } };
}

function single(part: RpcPart): RpcFrame {
  return { isBatch: false, parts: [part] };
}
