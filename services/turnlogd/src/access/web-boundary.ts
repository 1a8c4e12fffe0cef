import {
  assert,
  ERROR_CODES,
  type OperationName,
  type OperationParameters,
  type OperationResult,
  type SubscriptionName,
  type SubscriptionParameters,
  sessionKeyOf,
  TurnlogError,
} from '@turnlog/events';
import { DaemonError } from '../errors.ts';
import { conversationNotFound } from '../operations/refusals.ts';
import type { Boundary } from './boundary.ts';
import { BEFORE_WEB_KEYS, isWebSession, sessionOfKey, webKey } from './web-keys.ts';

/*
 * What a web token opens: conversations and transcripts whose key begins with `web:`, and bridges of such
 * conversations. Its holder names each by the opaque rest of the key, so that no name he can think of is that
 * of anything else. Every operation has its rule here, and one that has none does not compile.
 *
 * Whether a bridge is of such a conversation is not to be seen from its id: the handlers of bridges ask.
 */

type Rule<Name extends OperationName> =
  | 'forbidden'
  | {
      enter(parameters: OperationParameters<Name>): OperationParameters<Name>;
      leave(result: OperationResult<Name>): OperationResult<Name>;
    };

const same = <Value>(value: Value): Value => value;
const conversation = <Parameters extends { conversationKey: string }>(
  parameters: Parameters,
): Parameters => ({
  ...parameters,
  conversationKey: webKey(parameters.conversationKey),
});
const transcript = <Parameters extends { scopeId: string }>(parameters: Parameters): Parameters => ({
  ...parameters,
  scopeId: webKey(parameters.scopeId),
});

const RULES: { readonly [Name in OperationName]: Rule<Name> } = {
  'bridge.record': { enter: enterRecord, leave: same },
  'bridge.event': { enter: same, leave: same },
  'bridge.stop': { enter: same, leave: same },
  'bridge.list': {
    enter: same,
    leave: ({ bridges, ...rest }) => ({
      ...rest,
      bridges: bridges.flatMap((bridge) => {
        const session = sessionOfKey(bridge.conversationKey ?? '');
        return session === undefined ? [] : [{ ...bridge, conversationKey: session }];
      }),
    }),
  },
  'bridge.resetSession': {
    enter({ conversationKey, ...parameters }) {
      if (!isWebSession(parameters.sessionKey, conversationKey)) {
        throw conversationNotFound(conversationKey ?? parameters.sessionKey);
      }
      return conversationKey === undefined ? parameters : conversation({ ...parameters, conversationKey });
    },
    leave: same,
  },
  'session.get': {
    enter(parameters) {
      if (!isWebSession(parameters.sessionKey)) throw conversationNotFound(parameters.sessionKey);
      return parameters;
    },
    leave: same,
  },
  'conversation.list': {
    enter: ({ prefix = '', after, ...query }) => ({
      ...query,
      prefix: webKey(prefix),
      ...(after !== undefined && { after: webKey(after) }),
    }),
    leave: ({ conversations, next }) => ({
      conversations: conversations.map((each) => ({
        ...each,
        conversationKey: ownKey(each.conversationKey),
      })),
      ...(next !== undefined && { next: ownKey(next) }),
    }),
  },
  'conversation.load': { enter: conversation, leave: same },
  'conversation.replay': { enter: conversation, leave: same },
  'conversation.clear': { enter: conversation, leave: same },
  'conversation.alias': {
    enter: ({ from, to, ...parameters }) => ({ ...parameters, from: webKey(from), to: webKey(to) }),
    leave: same,
  },
  'transcripts.save': { enter: transcript, leave: same },
  'transcripts.saveBatch': {
    enter: ({ entries, ...parameters }) => ({ ...parameters, entries: entries.map(transcript) }),
    leave: ({ bases, ...result }) => ({ ...result, bases: ownEntries(bases) }),
  },
  'transcripts.load': { enter: transcript, leave: same },
  'transcripts.loadAll': {
    enter: ({ after, ...page }) => ({
      ...page,
      after: after === undefined ? BEFORE_WEB_KEYS : webKey(after),
    }),
    leave({ transcripts, next, seq }) {
      const after = next === undefined ? undefined : sessionOfKey(next);
      return { transcripts: ownEntries(transcripts), seq, ...(after !== undefined && { next: after }) };
    },
  },
  'transcripts.remove': { enter: transcript, leave: same },
  'transcripts.mtimes': { enter: same, leave: ({ times }) => ({ times: ownEntries(times) }) },
  'migration.run': 'forbidden',
  'migration.import': 'forbidden',
  'migration.readBack': 'forbidden',
  'migration.complete': 'forbidden',
  'log.read': 'forbidden',
  'log.verify': 'forbidden',
  'projections.status': 'forbidden',
  'projections.flush': 'forbidden',
  'projections.rebuild': 'forbidden',
  'daemon.status': 'forbidden',
  'token.create': 'forbidden',
  'token.list': 'forbidden',
  'token.revoke': 'forbidden',
};

type Follow = {
  readonly [Name in SubscriptionName]:
    | 'forbidden'
    | ((parameters: SubscriptionParameters<Name>) => SubscriptionParameters<Name>);
};

const SUBSCRIPTION_RULES: Follow = {
  'log.subscribe': 'forbidden',
  'live.subscribe': ({ conversationKey, ...parameters }) => {
    if (conversationKey === undefined) throw missing('conversationKey');
    return conversation({ ...parameters, conversationKey });
  },
};

export const webBoundary: Boundary = {
  enter(name, parameters) {
    const rule = RULES[name];
    if (rule === 'forbidden') throw forbidden(name);
    return rule.enter(parameters);
  },
  leave(name, result) {
    const rule = RULES[name];
    assert(rule !== 'forbidden', 'what is forbidden has no result');
    return rule.leave(result);
  },
  follow(name, parameters) {
    const rule = SUBSCRIPTION_RULES[name];
    if (rule === 'forbidden') throw forbidden(name);
    return rule(parameters);
  },
  refuse(error) {
    if (!(error instanceof TurnlogError)) return error;
    const { httpStatus, advice } = ERROR_CODES[error.code];
    // What has failed inside may speak of what is not this caller's.
    if (httpStatus >= 500) return new DaemonError(error.code, advice, undefined, { cause: error });
    const { stream: _, ...details } = error.details ?? {};
    const named = Object.entries(details).map(([field, value]) => [
      field,
      KEY_FIELDS.has(field) && typeof value === 'string' ? (sessionOfKey(value) ?? value) : value,
    ]);
    return new DaemonError(error.code, error.message, Object.fromEntries(named), { cause: error });
  },
};

/** The details of an error that hold a key. */
const KEY_FIELDS: ReadonlySet<string> = new Set(['conversationKey', 'scopeId', 'from', 'to']);

function enterRecord({
  conversationKey,
  ...parameters
}: OperationParameters<'bridge.record'>): OperationParameters<'bridge.record'> {
  if (conversationKey === undefined) throw missing('conversationKey');
  const entered = conversation({ ...parameters, conversationKey });
  const { sessionKey, provider } = parameters;
  if (sessionKey !== undefined && sessionKey !== sessionKeyOf(entered.conversationKey, provider)) {
    throw conversationNotFound(sessionKey);
  }
  return entered;
}

function ownKey(key: string): string {
  const session = sessionOfKey(key);
  assert(session !== undefined, 'what was asked for under web: begins with it');
  return session;
}

/** By definition and not by assignment: a session may be called `__proto__`. */
function ownEntries<Value>(byKey: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(byKey).flatMap(([key, value]): [string, Value][] => {
      const session = sessionOfKey(key);
      return session === undefined ? [] : [[session, value]];
    }),
  );
}

function forbidden(name: string): DaemonError {
  return new DaemonError('forbidden', `a web token does not open ${name}`, { operation: name });
}

function missing(field: string): DaemonError {
  return new DaemonError(
    'invalid_argument',
    `parameters.${field} is missing; a web token opens one conversation`,
    {
      field: `parameters.${field}`,
    },
  );
}
