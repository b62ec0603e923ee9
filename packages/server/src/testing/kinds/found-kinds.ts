import type { Event, ToolDefinition } from "@convoke/protocol";

/** The families that the wire discriminates by kind. */
export const families = ["Event", "Action", "Observation", "ToolDefinition"] as const;
export type Family = (typeof families)[number];
export type Kinds = Readonly<Record<Family, ReadonlySet<string>>>;

/** Components of a document by their names, in facts. */
type Facts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Every kind of agent server 0.1.0, from the facts of its document. */
export function contractKinds(facts: Facts): Kinds {
  const members = (family: Family): ReadonlySet<string> => {
    const [, names = ""] = /^oneOf\((.+)\) by kind$/u.exec(facts[family]!["(form)"]!) ?? [];
    return new Set(names.split(" | "));
  };
  return kindsOf(members);
}

/** Which of them are in a log: kinds of events, of their actions and observations, and of the tools that it lists. */
export function foundKinds(log: readonly Event[]): Kinds {
  const found = kindsOf(() => new Set<string>()) as Readonly<Record<Family, Set<string>>>;
  for (const event of log) {
    found.Event.add(event.kind);
    if (event.kind === "ActionEvent" && event.action) found.Action.add(event.action.kind);
    if (event.kind === "ObservationEvent") found.Observation.add(event.observation.kind);
  }
  for (const { kind } of definitionsIn(log)) found.ToolDefinition.add(kind);
  return found;
}

/** The tools that a log lists: those of the system prompt, and those added later, such as an MCP server's. */
export function definitionsIn(log: readonly Event[]): ToolDefinition[] {
  return log.flatMap((event) => {
    if (event.kind === "SystemPromptEvent") return event.tools ?? [];
    const isTools = event.kind === "ConversationStateUpdateEvent" && event.key === "tools";
    return isTools ? (event.value as ToolDefinition[]) : [];
  });
}

/** One line for each tool that was called: its name, and the kinds of its definition, its actions and its observations. */
export function toolRows(log: readonly Event[]): readonly (readonly [string, string, string, string])[] {
  const definitions = new Map(definitionsIn(log).map(({ action_type: action, kind }) => [action, kind]));
  const observations = new Map(
    log.flatMap((event) =>
      event.kind === "ObservationEvent" ? [[event.action_id, event.observation.kind] as const] : [],
    ),
  );
  const rows = new Map<string, readonly [string, string, string, string]>();
  for (const event of log) {
    if (event.kind !== "ActionEvent" || !event.action) continue;
    const { action, id, tool_name: name } = event;
    const definition = definitions.get(action.kind) ?? "none";
    const observation = observations.get(id!);
    if (observation !== undefined) rows.set(name, [name, definition, action.kind, observation]);
  }
  return [...rows.values()].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

function kindsOf(members: (family: Family) => ReadonlySet<string>): Kinds {
  return {
    Event: members("Event"),
    Action: members("Action"),
    Observation: members("Observation"),
    ToolDefinition: members("ToolDefinition"),
  };
}
