import { migrate, serviceTarget } from '../migration/migrate.ts';
import { itemOfWire } from '../migration/wire-items.ts';
import type { Service } from '../service.ts';
import type { Handlers } from './dispatcher.ts';

type MigrationHandlers = Pick<
  Handlers,
  'migration.run' | 'migration.import' | 'migration.readBack' | 'migration.complete'
>;

export function migrationHandlers(service: Service): MigrationHandlers {
  const { log } = service;
  const target = serviceTarget(service);
  return {
    'migration.run': (parameters) => migrate(service, parameters),
    'migration.import': async ({ items, dryRun = false }) => {
      const placed = await target.place(items.map(itemOfWire), { dryRun });
      return { placed, seq: log.head() };
    },
    'migration.readBack': async ({ subjects }) => {
      const digests = await target.digests(subjects);
      return { digests: digests.map((digest) => digest ?? null), seq: log.head() };
    },
    'migration.complete': async (completion) => {
      await target.complete(completion);
      return { seq: log.head() };
    },
  };
}
