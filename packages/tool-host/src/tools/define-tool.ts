import type { ToolDefinition } from "@convoke/protocol";

/** The annotations of tools.md 3.4, in the order title, read-only, destructive, idempotent, open world. */
export function annotate(
  title: string | null,
  hints: { readOnly: boolean; destructive: boolean; idempotent: boolean; openWorld: boolean },
) {
  return {
    title,
    readOnlyHint: hints.readOnly,
    destructiveHint: hints.destructive,
    idempotentHint: hints.idempotent,
    openWorldHint: hints.openWorld,
  };
}

export type Annotations = ReturnType<typeof annotate>;

/** The wire form of a tool named `<Stem>Tool` that takes `<Stem>Action` and gives `<Stem>Observation`. */
export function defineTool(
  stem: Stem,
  name: string,
  description: string,
  annotations: Annotations,
): ToolDefinition {
  return {
    kind: `${stem}Tool`,
    title: annotations.title ?? name,
    description,
    action_type: `${stem}Action`,
    observation_type: `${stem}Observation`,
    annotations,
    meta: null,
  };
}

type Stem =
  | "FileEditor"
  | "PlanningFileEditor"
  | "ReadFile"
  | "WriteFile"
  | "Edit"
  | "ListDirectory"
  | "Glob"
  | "Grep"
  | "TaskTracker"
  | "Think"
  | "Finish"
  | "Terminal";
