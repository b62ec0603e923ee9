import { openApplicationDatabase, type ApplicationDatabase } from "./database/application-database.ts";
import { openJournal } from "./journal/open-journal.ts";
import type { Journal } from "./journal/journal.ts";
import { openMasterKey } from "./security/master-key.ts";
import type { SecretBox } from "./security/seal.ts";

/** Everything that a server keeps, and what it seals secrets with. */
export interface Store extends AsyncDisposable {
  readonly journal: Journal;
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
}

export type StoreDeps = {
  /** Absolute, and there. */
  readonly dataDir: string;
  /** What secrets are sealed with; null when the folder has a key file of its own. */
  readonly masterSecret: string | null;
};

/** Opens the store of a data folder; several processes may have it open. */
export async function openStore({ dataDir, masterSecret }: StoreDeps): Promise<Store> {
  await using scope = new AsyncDisposableStack();
  // The journal starts a thread; meanwhile this one opens the rest.
  const opening = beginToOpen(scope, openJournal({ dataDir }));
  const database = scope.use(await openApplicationDatabase(dataDir));
  const secretBox = await openMasterKey(dataDir, masterSecret);
  const journal = await opening;
  const owned = scope.move();
  return { journal, database, secretBox, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** What is being opened closes with the scope, however far it has come; its failure is told where the result is awaited. */
export function beginToOpen<Opened extends AsyncDisposable>(
  scope: AsyncDisposableStack,
  opening: Promise<Opened>,
): Promise<Opened> {
  const opened = opening.catch(() => null);
  scope.defer(async () => {
    await (await opened)?.[Symbol.asyncDispose]();
  });
  return opening;
}
