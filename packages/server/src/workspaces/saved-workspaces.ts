import type { WorkspaceItem, WorkspaceParentItem, WorkspacesListResponse } from "@convoke/protocol";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { addRow, removeRows, rowsWith } from "../database/rows.ts";
import { Fault } from "../lib/fault.ts";
import type { Clock } from "../lib/clock.ts";

export type SavedWorkspacesDeps = { readonly database: ApplicationDatabase; readonly clock: Clock };

type Kind = "workspace" | "parent";

/** How many of each kind a user may store. */
const maxSavedWorkspaces = 500;

/** The directories that users want to find again. Paths are names here: nothing checks whether they exist. */
export class SavedWorkspaces {
  readonly #deps: SavedWorkspacesDeps;

  constructor(deps: SavedWorkspacesDeps) {
    this.#deps = deps;
  }

  /** In the order in which they were stored first. */
  async list(userId: string): Promise<WorkspacesListResponse> {
    const query = rowsWith(this.#deps.database.tables, "saved_workspaces", { user_id: userId });
    const rows = await query.orderBy("created_at").orderBy("path").execute();
    const of = (kind: Kind): WorkspaceItem[] =>
      rows
        .filter((row) => row.kind === kind)
        .map(({ item_id: id, name, path, parent_path: parentPath }) => ({
          id,
          name,
          path,
          ...(parentPath === null ? {} : { parentPath }),
        }));
    return { workspaces: of("workspace"), workspaceParents: of("parent") };
  }

  async addWorkspaces(userId: string, items: readonly WorkspaceItem[]): Promise<void> {
    await this.#add(userId, "workspace", items);
  }

  async addParents(userId: string, items: readonly WorkspaceParentItem[]): Promise<void> {
    await this.#add(userId, "parent", items);
  }

  /** False when it was not stored. */
  async remove(userId: string, kind: Kind, path: string): Promise<boolean> {
    const { tables } = this.#deps.database;
    return (await removeRows(tables, "saved_workspaces", { user_id: userId, kind, path })) > 0;
  }

  async #add(userId: string, kind: Kind, items: readonly WorkspaceItem[]): Promise<void> {
    const { database, clock } = this.#deps;
    await database.transaction(async (tables) => {
      const own = await rowsWith(tables, "saved_workspaces", { user_id: userId, kind }).execute();
      const paths = new Set([...own.map(({ path }) => path), ...items.map(({ path }) => path)]);
      if (paths.size > maxSavedWorkspaces) {
        throw new Fault(
          "conflict",
          "too_many_workspaces",
          `A user has at most ${maxSavedWorkspaces} stored workspaces. Remove some.`,
        );
      }
      for (const { id, name, path, parentPath = null } of items) {
        const values = { item_id: id, name, parent_path: parentPath, created_at: clock.nowMs() };
        await addRow(tables, "saved_workspaces", { user_id: userId, kind, path, ...values });
      }
    });
  }
}
