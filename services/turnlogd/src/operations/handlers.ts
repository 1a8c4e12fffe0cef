import type { Service } from '../service.ts';
import { bridgeHandlers } from './bridge-handlers.ts';
import { conversationHandlers } from './conversation-handlers.ts';
import { daemonHandlers } from './daemon-handlers.ts';
import type { Handlers } from './dispatcher.ts';
import { migrationHandlers } from './migration-handlers.ts';
import { tokenHandlers } from './token-handlers.ts';
import { transcriptHandlers } from './transcript-handlers.ts';

/** A handler for every operation of the registry; one that is missing does not compile. */
export function createHandlers(service: Service): Handlers {
  return {
    ...bridgeHandlers(service),
    ...conversationHandlers(service),
    ...transcriptHandlers(service),
    ...migrationHandlers(service),
    ...daemonHandlers(service),
    ...tokenHandlers(service),
  };
}
