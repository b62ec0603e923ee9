import type { AppendBatch, Lease } from "../journal.ts";
import { toIdBytes } from "../event-id.ts";
import { checksumOf } from "../checksum.ts";
import { foldText } from "../text-terms.ts";
import { bigints, integers, smallints, texts, uuids } from "./arrays.ts";
import type { Classes } from "./classes.ts";
import { listedFieldsOf } from "./listed-fields.ts";
import { positionOf } from "./schema.ts";
import { toComparable, toStorable } from "./storable-text.ts";

/** An append whose form was checked, on its way to the database. */
export type PreparedAppend = {
  readonly lease: Lease;
  readonly number: number;
  readonly batch: AppendBatch;
};

/** Fields that may be set to null: a bit says that they are set. */
const sets = { title: 1, secrets: 2, snapshot: 4, config: 8 } as const;

/** What a group of appends has, beside events. */
export type GroupParts = {
  readonly hasTexts: boolean;
  readonly hasRows: boolean;
  readonly hasDocuments: boolean;
  readonly hasInbox: boolean;
};

export function partsOf(appends: readonly PreparedAppend[]): GroupParts {
  const patches = appends.map(({ batch }) => batch.conversation ?? {});
  return {
    hasTexts: appends.some(({ batch }) => batch.events.some(({ text }) => text !== null)),
    hasRows: patches.some(
      (patch) =>
        (setsOf(patch) & (sets.title | sets.config)) > 0 ||
        (patch.executionStatus ?? patch.isCopying ?? patch.updatedAtMicros) !== undefined,
    ),
    hasDocuments: patches.some(
      (patch) => (setsOf(patch) & ~sets.title) > 0 || patch.snapshotSeq !== undefined,
    ),
    hasInbox: appends.some(({ batch }) => batch.inbox !== undefined),
  };
}

/** The statement is prepared by this name, once for what a group has. */
export function appendName({ hasTexts, hasRows, hasDocuments, hasInbox }: GroupParts): string {
  return ["append", hasTexts && "texts", hasRows && "rows", hasDocuments && "documents", hasInbox && "inbox"]
    .filter((part) => part !== false)
    .join(" ");
}

/**
 * A group of appends in one statement, at most one for each log. `moved` is the fence: it changes a head, and so locks it, only
 * where lease, end of the log, ids and times are as the writer knows them, and everything else is joined to it. Answers the
 * numbers of the logs that were written. Tables for which the group has nothing are left out: the server would open each of them, with all
 * of its indexes.
 */
export function appendSql({ hasTexts, hasRows, hasDocuments, hasInbox }: GroupParts): string {
  return `
  WITH input AS (
    SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::int[], $5::int[], $6::uuid[], $7::uuid[], $8::bigint[], $9::bigint[],
      $10::int[], $11::text[], $12::smallint[], $13::smallint[], $14::bigint[], $15::text[], $16::text[], $17::text[],
      $18::text[], $19::int[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[])
    AS t(number, generation, expected, added, first_id, last_id, first_at, last_at, sets, status, active, copying, updated_at,
      title, config, secrets, snapshot, snapshot_seq, working_dir, tags, client_id, event_id, digest)
  ), moved AS (
    UPDATE convoke.heads h SET last_seq = h.last_seq + i.added, last_id = coalesce(i.last_id, h.last_id),
      last_at = coalesce(i.last_at, h.last_at), updated_at = coalesce(i.updated_at, h.updated_at),
      is_active = CASE WHEN i.active IS NULL THEN h.is_active ELSE i.active = 1 END
    FROM input i
    WHERE h.number = i.number AND h.generation = i.generation AND h.node_id = $1 AND h.last_seq = i.expected
      AND (i.first_id IS NULL OR h.last_id IS NULL OR (i.first_id > h.last_id AND i.first_at > h.last_at))
      ${hasInbox ? isNotNoted : ""}
    RETURNING h.number
  ), stored AS (
    INSERT INTO convoke.events (log, seq, id, at, class, json, meta, checksum)
    SELECT e.* FROM unnest($25::bigint[], $26::int[], $27::uuid[], $28::bigint[], $29::smallint[], $30::text[], $31::text[], $32::bigint[])
      AS e(log, seq, id, at, class, json, meta, checksum) JOIN moved m ON m.number = e.log
  )${hasTexts ? storeTexts : ""}${hasRows ? changeRows : ""}${hasDocuments ? changeDocuments : ""}${hasInbox ? noteInbox : ""}
  SELECT number FROM moved`;
}

const isNotNoted = `AND (i.client_id IS NULL OR NOT EXISTS
        (SELECT FROM convoke.inbox x WHERE x.number = i.number AND x.client_id = i.client_id))`;

const storeTexts = `, texted AS (
    INSERT INTO convoke.texts (log, seq, class, folded)
    SELECT t.* FROM unnest($33::bigint[], $34::int[], $35::smallint[], $36::text[]) AS t(log, seq, class, folded)
      JOIN moved m ON m.number = t.log
  )`;

const changeRows = `, patched AS (
    UPDATE convoke.conversations c SET execution_status = coalesce(i.status, c.execution_status),
      title = CASE WHEN i.sets & ${sets.title} > 0 THEN i.title ELSE c.title END,
      is_copying = CASE WHEN i.copying IS NULL THEN c.is_copying ELSE i.copying = 1 END,
      working_dir = CASE WHEN i.sets & ${sets.config} > 0 THEN i.working_dir ELSE c.working_dir END,
      tags = CASE WHEN i.sets & ${sets.config} > 0 THEN i.tags ELSE c.tags END,
      updated_at = coalesce(i.updated_at, CASE WHEN c.execution_status = 'running' THEN h.updated_at ELSE c.updated_at END)
    FROM input i JOIN moved m USING (number) JOIN convoke.heads h USING (number)
    WHERE c.number = i.number AND (i.sets & ${sets.title | sets.config} > 0 OR i.status <> c.execution_status OR i.copying IS NOT NULL
      OR (i.updated_at IS NOT NULL AND coalesce(i.status, c.execution_status) <> 'running'))
  )`;

const changeDocuments = `, documented AS (
    UPDATE convoke.documents d SET config = coalesce(i.config, d.config), snapshot_seq = coalesce(i.snapshot_seq, d.snapshot_seq),
      sealed_secrets = CASE WHEN i.sets & ${sets.secrets} > 0 THEN i.secrets ELSE d.sealed_secrets END,
      snapshot = CASE WHEN i.sets & ${sets.snapshot} > 0 THEN i.snapshot ELSE d.snapshot END
    FROM input i JOIN moved m USING (number)
    WHERE d.number = i.number AND (i.sets & ${sets.secrets | sets.snapshot | sets.config} > 0 OR i.snapshot_seq IS NOT NULL)
  )`;

const noteInbox = `, noted AS (
    INSERT INTO convoke.inbox (number, client_id, event_id, digest)
    SELECT i.number, i.client_id, i.event_id, i.digest FROM input i JOIN moved m USING (number) WHERE i.client_id IS NOT NULL
  )`;

/** The values of {@link appendSql}; the classes of all events must have been learned. */
export function appendValues(
  nodeId: string,
  appends: readonly PreparedAppend[],
  classes: Classes,
  { hasTexts }: GroupParts,
): (string | Buffer)[] {
  const each = <Value>(value: (append: PreparedAppend) => Value): Value[] => appends.map(value);
  const patched = <Value>(
    value: (patch: NonNullable<AppendBatch["conversation"]>) => Value | undefined,
  ): (Value | null)[] => each(({ batch }) => value(batch.conversation ?? {}) ?? null);
  const flag = (value: boolean | undefined): number | undefined =>
    value === undefined ? undefined : Number(value);
  const listed = each(({ batch: { conversation } }) =>
    conversation?.config === undefined ? null : listedFieldsOf(conversation.config),
  );
  return [
    nodeId,
    bigints(each(({ number }) => number)),
    bigints(each(({ lease }) => lease.generation)),
    integers(each(({ batch }) => batch.expectedSeq)),
    integers(each(({ batch }) => batch.events.length)),
    uuids(each(({ batch }) => idBytesOf(batch.events[0]?.id))),
    uuids(each(({ batch }) => idBytesOf(batch.events.at(-1)?.id))),
    bigints(each(({ batch }) => batch.events[0]?.timestampMicros ?? null)),
    bigints(each(({ batch }) => batch.events.at(-1)?.timestampMicros ?? null)),
    integers(patched(setsOf)),
    texts(patched((patch) => patch.executionStatus)),
    smallints(patched((patch) => flag(patch.isActive))),
    smallints(patched((patch) => flag(patch.isCopying))),
    bigints(patched((patch) => patch.updatedAtMicros)),
    texts(patched((patch) => storable(patch.title))),
    texts(patched((patch) => patch.config)),
    texts(patched((patch) => patch.sealedSecrets)),
    texts(patched((patch) => patch.snapshot)),
    integers(patched((patch) => patch.snapshotSeq)),
    texts(listed.map((fields) => storable(fields?.workingDir) ?? null)),
    texts(listed.map((fields) => fields?.tags ?? null)),
    texts(each(({ batch }) => storable(batch.inbox?.clientId) ?? null)),
    texts(each(({ batch }) => batch.inbox?.eventId ?? null)),
    texts(each(({ batch }) => batch.inbox?.digest ?? null)),
    ...eventValues(appends, classes, hasTexts),
  ];
}

function eventValues(appends: readonly PreparedAppend[], classes: Classes, hasTexts: boolean): Buffer[] {
  const rows = appends.flatMap(({ number, batch }) =>
    batch.events.map((event, index) => {
      const seq = batch.expectedSeq + 1 + index;
      const classCode = classes.codeOf(event.kind, event.source, event.text !== null)!;
      const { timestampMicros: timestamp, json, meta, text } = event;
      const id = toIdBytes(event.id)!;
      const checksum = checksumOf(positionOf(number, seq), {
        id,
        timestamp,
        classCode,
        json,
        text: null,
        meta,
      });
      return { number, seq, id, timestamp, classCode, json, meta, text, checksum };
    }),
  );
  const values = [
    bigints(rows.map(({ number }) => number)),
    integers(rows.map(({ seq }) => seq)),
    uuids(rows.map(({ id }) => id)),
    bigints(rows.map(({ timestamp }) => timestamp)),
    smallints(rows.map(({ classCode }) => classCode)),
    texts(rows.map(({ json }) => json)),
    texts(rows.map(({ meta }) => meta)),
    bigints(rows.map(({ checksum }) => checksum)),
  ];
  if (!hasTexts) return values;
  const messages = rows.filter(({ text }) => text !== null);
  return [
    ...values,
    bigints(messages.map(({ number }) => number)),
    integers(messages.map(({ seq }) => seq)),
    smallints(messages.map(({ classCode }) => classCode)),
    texts(messages.map(({ text }) => toComparable(foldText(text ?? "")))),
  ];
}

function setsOf(patch: NonNullable<AppendBatch["conversation"]>): number {
  return (
    (patch.title === undefined ? 0 : sets.title) |
    (patch.sealedSecrets === undefined ? 0 : sets.secrets) |
    (patch.snapshot === undefined ? 0 : sets.snapshot) |
    (patch.config === undefined ? 0 : sets.config)
  );
}

function idBytesOf(id: string | undefined): Uint8Array | null {
  return id === undefined ? null : toIdBytes(id);
}

function storable(text: string | null | undefined): string | null | undefined {
  return typeof text === "string" ? toStorable(text) : text;
}
