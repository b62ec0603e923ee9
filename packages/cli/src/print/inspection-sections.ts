import type { InspectedAction, Inspection } from "@convoke/server/inspect";
import type { UsedProfile } from "@convoke/protocol";
import { printable } from "./printable.ts";

/** A part of what is printed: a heading, and lines below it. No line is wider than {@link inspectionWidth}. */
export type InspectionSection = { readonly heading: string; readonly lines: readonly string[] };

export const inspectionWidth = 100;

/** An inspection for people. */
export function inspectionSections(found: Inspection): InspectionSection[] {
  const { row, lease, store } = found;
  return [
    { heading: `Conversation ${found.id}`, lines: rowLines(row) },
    { heading: "What it means", lines: found.conclusions.flatMap((sentence) => wrapped("  ", sentence)) },
    { heading: "Lease", lines: leaseLines(lease) },
    { heading: "State (the log, folded)", lines: stateLines(found) },
    { heading: "Open actions", lines: actionLines(found) },
    { heading: "Store", lines: storeLines(store) },
    {
      heading: `Newest events (${found.events.length} of ${store.last_seq})`,
      lines: found.events.length === 0 ? ["  none"] : eventLines(found.events),
    },
  ];
}

function rowLines({ config, sizes, ...row }: Inspection["row"]): string[] {
  return fields([
    ["title", row.title ?? "(none)"],
    ["owner", row.owner_id],
    ["created", row.created_at],
    ["updated", row.updated_at],
    ["status", `${row.execution_status}${row.is_active ? ", resumes after a restart" : ""}`],
    ["model", config === null ? "(the configuration is damaged)" : (config.agent.llm.model ?? "(none)")],
    ["address", config?.agent.llm.base_url ?? null],
    ["settings", config === null ? null : settingsText(config)],
    [
      "tools",
      config === null ? null : (config.agent.tools ?? []).map(({ name }) => name).join(", ") || "(none)",
    ],
    ["directory", config?.workspace.working_dir ?? null],
    ["confirmation", config?.confirmation_policy.kind ?? null],
    ["iterations", config === null ? null : `at most ${config.max_iterations} in a run`],
    ["tags", config === null || Object.keys(config.tags).length === 0 ? null : JSON.stringify(config.tags)],
    ["sandbox", row.sandbox_id],
    ["part of", row.parent_conversation_id],
    [
      "marks",
      [row.is_archived && "archived", row.is_copying && "copying"].filter(Boolean).join(", ") || null,
    ],
    [
      "sizes",
      `${sizes.events} events, ${bytes(sizes.event_bytes)}, and ${bytes(sizes.beside_bytes)} beside them`,
    ],
    [
      "",
      `configuration ${bytes(sizes.config_bytes)}, snapshot ${bytes(sizes.snapshot_bytes)}, sealed secrets ${bytes(sizes.sealed_secrets_bytes)}`,
    ],
  ]);
}

/** The stored profiles that its answers are of now. */
function settingsText({ settings_version: version, settings_used: used }: Config): string | null {
  const profiles = [
    profileText("agent profile", used?.agent_profile ?? null),
    profileText("model profile", used?.model_profile ?? null),
  ];
  const all = [version === undefined ? null : `version ${version}`, ...profiles];
  return all.filter((part) => part !== null).join(", ") || null;
}

function profileText(what: string, profile: UsedProfile | null): string | null {
  if (profile === null) return null;
  return `${what} ${profile.name}@${profile.revision}${profile.is_pinned ? " (pinned)" : ""}`;
}

type Config = NonNullable<Inspection["row"]["config"]>;

function leaseLines({ generation, node }: Inspection["lease"]): string[] {
  return fields([
    ["held by", node === null ? "nobody" : `node ${node.id}`],
    ["node", node === null ? null : node.is_alive ? "alive" : "not alive"],
    ["up since", node?.started_at ?? null],
    ["address", node?.address ?? null],
    ["release", node?.release ?? null],
    ["generation", String(generation)],
  ]);
}

function stateLines({ state, parts }: Inspection): string[] {
  if (state === null) return ["  Not available: an event of the log is damaged."];
  const { run, approvals, queued, budget, branch, goal, plan } = state;
  return fields([
    ["status", state.execution_status],
    ["run", run === null ? "none" : runText(run)],
    ["next try", run?.retry_until ?? null],
    ["attended", run?.is_attended === true ? "yes, the run ends with the command that started it" : null],
    [
      "approvals",
      approvals.waiting.length === 0
        ? "none"
        : `${approvals.waiting.length} waiting${approvals.deadline === null ? "" : `, until ${approvals.deadline}`}`,
    ],
    ["queue", queued.length === 0 ? "empty" : `${queued.length} not read by the model`],
    ...queued.map(({ event_id: id, seq, is_from_user: isFromUser, wants_run: wantsRun }): Field => [
      "",
      `event ${seq} ${id}${isFromUser ? "" : ", not of a user"}${wantsRun ? ", asks for a run" : ""}`,
    ]),
    [
      "spent",
      `${budget.spent.toFixed(4)} US dollars${budget.limit === null ? ", no limit" : ` of ${budget.limit}`}`,
    ],
    [
      "branch",
      `${branch.leaf_event_id ?? "empty"}${branch.navigations === 0 ? "" : `, left ${branch.navigations} times`}`,
    ],
    ["goal", goal === null ? null : `${goal.objective} (round ${goal.iteration})`],
    [
      "tasks",
      plan === null
        ? null
        : `${plan.done} of ${plan.total} done${plan.current === null ? "" : `, now: ${plan.current}`}`,
    ],
    ...parts.map(({ id, execution_status: status }, index): Field => [
      index === 0 ? "sub-agents" : "",
      `${id} ${status}`,
    ]),
  ]);
}

function runText({
  began_seq: seq,
  began_at: at,
  model_answers: answers,
  wanted_by_seq: wanted,
}: Run): string {
  const began = seq === null ? "not started" : `since event ${seq}${at === null ? "" : ` at ${at}`}`;
  return `${began}, ${answers} model ${answers === 1 ? "answer" : "answers"}${wanted === null ? "" : `, asked for by event ${wanted}`}`;
}

type Run = NonNullable<NonNullable<Inspection["state"]>["run"]>;

function actionLines({ state, open_actions: actions, execution_record: record }: Inspection): string[] {
  if (state === null) return ["  unknown, like the state"];
  if (actions.length === 0) return ["  none"];
  return [
    ...actions.flatMap((action) => [
      fit(`  ${plain(action.tool_name)}  ${plain(action.tool_call_id)}`),
      fit(`    event ${action.seq} ${action.action_id}`),
      fit(`    ${executionText(action)}`),
    ]),
    ...(record === "here" ? [] : wrapped("  ", placeText[record])),
  ];
}

const placeText = {
  sandbox:
    "The record of executions is in the sandbox. It is not read, because programs in the sandbox could forge it.",
  elsewhere: "The record of executions is on the machine of the node above.",
};

function executionText({
  is_waiting: isWaiting,
  execution,
  started_at: start,
  ended_at: end,
}: InspectedAction): string {
  if (isWaiting) return "waiting for approval";
  switch (execution) {
    case "none":
      return "no record of an execution";
    case "announced":
      return "announced, not started";
    case "started":
      return `started${start === null ? "" : ` at ${start}`}`;
    case "ended":
      return `ended${end === null ? "" : ` at ${end}`}, but its result is not in the log`;
    case "unknown":
      return "unknown";
  }
}

function storeLines(store: Inspection["store"]): string[] {
  const { last_seq: last, snapshot_seq: snapshot, checkpoint_seq: checkpoint, indexed_seq: indexed } = store;
  return [
    ...fields([
      ["log number", String(store.log_number)],
      ["last event", String(last)],
      ["snapshot", `at event ${snapshot}, ${behind(last - snapshot)}`],
      [
        "checkpoint",
        checkpoint === null ? "unknown" : checkpoint === 0 ? "none yet" : `at event ${checkpoint}`,
      ],
      ["text index", indexed === null ? "none" : `at event ${indexed}, ${behind(last - indexed)}`],
      ["machine", store.machine],
      ["damage", store.damages.length === 0 ? "none found" : `${store.damages.length} found`],
    ]),
    ...store.damages.slice(0, shownDamages).map((damage) => fit(`    ${plain(damage)}`)),
    ...(store.damages.length > shownDamages
      ? [`    and ${store.damages.length - shownDamages} more (--json has all)`]
      : []),
  ];
}

const shownDamages = 20;

function eventLines(events: Inspection["events"]): string[] {
  const width = Math.max(...events.map(({ seq }) => String(seq).length));
  return events.map(({ seq, timestamp, kind, source, summary }) =>
    fit(
      `  ${String(seq).padStart(width)}  ${(timestamp ?? "").slice(11, 23).padEnd(12)}  ${plain(source).padEnd(11)}  ${shortKind(kind)}  ${plain(summary)}`.trimEnd(),
    ),
  );
}

/** Most names end so. */
function shortKind(kind: string): string {
  return plain(kind)
    .replace(/Event$/, "")
    .replace("ConversationStateUpdate", "StateUpdate")
    .padEnd(15);
}

type Field = readonly [label: string, value: string | null];

/** Aligned; those without a value are left out. */
function fields(all: readonly Field[]): string[] {
  return all.flatMap(([label, value]) =>
    value === null ? [] : [fit(`  ${label.padEnd(labelWidth)}  ${plain(value)}`)],
  );
}

const labelWidth = 12;

function plain(text: string): string {
  return printable(text).replaceAll(/\s+/g, " ");
}

function fit(line: string): string {
  if (columnsOf(line) <= inspectionWidth) return line;
  let shown = "";
  let columns = 1;
  for (const character of line) {
    columns += columnsOf(character);
    if (columns > inspectionWidth) break;
    shown += character;
  }
  return `${shown}…`;
}

/** On a terminal; letters of East Asia and pictures take two. */
function columnsOf(text: string): number {
  const wide = text.match(wideCharacters)?.length ?? 0;
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
  return text.length - pairs + wide;
}

const wideCharacters =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/gu;

function wrapped(indent: string, sentence: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of plain(sentence).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (columnsOf(indent + longer) <= inspectionWidth) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line].filter((text) => text !== "").map((text) => fit(`${indent}${text}`));
}

function behind(events: number): string {
  return events <= 0 ? "up to date" : `${events} events behind`;
}

function bytes(count: number | null): string {
  if (count === null) return "(damaged)";
  if (count < 1024) return `${count} B`;
  return count < 1024 * 1024 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1024 / 1024).toFixed(1)} MiB`;
}
