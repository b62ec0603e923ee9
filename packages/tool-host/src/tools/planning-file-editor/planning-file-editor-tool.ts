import { mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import type {
  Action,
  FileEditorAction,
  PlanningFileEditorAction,
  PlanningFileEditorObservation,
} from "@convoke/protocol";
import { ToolInputError, type Tool, type ToolContext, type ToolInstance } from "../../tool.ts";
import { annotate, defineTool } from "../define-tool.ts";
import { codeOf } from "../file-editor/atomic-write.ts";
import { kindAt, readEditable } from "../file-editor/check-path.ts";
import { EditHistory } from "../file-editor/edit-history.ts";
import { FileEditor } from "../file-editor/file-editor.ts";
import { textPart } from "../observation-content.ts";

/** The file editor of a planning agent: it views everything and edits only its plan. */
export const planningFileEditorTool: Tool = {
  name: "planning_file_editor",
  actionKind: "PlanningFileEditorAction",
  isReadOnly: false,
  traits: ({ workspaceDir }) => ({ writesPlan: true, file: { field: "path", base: workspaceDir } }),
  define: (context) =>
    defineTool(
      "PlanningFileEditor",
      "planning_file_editor",
      describe(context),
      annotate("planning_file_editor", {
        readOnly: false,
        destructive: false,
        idempotent: false,
        openWorld: false,
      }),
    ),
  open: async (context) => new PlanningFileEditor(context),
};

class PlanningFileEditor implements ToolInstance {
  readonly #context: ToolContext;
  readonly #editor: FileEditor;

  constructor(context: ToolContext) {
    this.#context = context;
    this.#editor = new FileEditor({
      workspaceDir: context.workspaceDir,
      history: new EditHistory(join(context.stateDir, "planning-history")),
    });
  }

  async execute(given: Action): Promise<PlanningFileEditorObservation> {
    const action = given as PlanningFileEditorAction;
    const plan = await findPlan(this.#context);
    await makePlan(plan);
    if (action.command !== "view" && !(await isSameFile(action.path, plan))) {
      const text = `Invalid parameter path: ${action.path}. While you plan, the only file that may be changed is ${plan}; every other one can be viewed.`;
      return refusal(action, text);
    }
    return asPlanning(await this.#edit(action, plan));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#editor[Symbol.asyncDispose]();
  }

  /** The plan always exists, so writing it replaces the empty template. */
  async #edit(action: PlanningFileEditorAction, plan: string) {
    const edit: FileEditorAction = { ...action, kind: "FileEditorAction" };
    const text = action.file_text;
    if (action.command !== "create" || typeof text !== "string" || !(await isEmptyForm(plan)))
      return this.#editor.execute(edit);
    const replaced = await this.#editor.execute({
      kind: "FileEditorAction",
      command: "str_replace",
      path: action.path,
      old_str: emptyForm,
      new_str: text,
    });
    return { ...replaced, command: "create" as const };
  }
}

/** The path of the plan. A plan at the root of the workspace, as older releases wrote it, takes precedence over the usual place. */
async function findPlan({ workspaceDir, params }: ToolContext): Promise<string> {
  const given = params["plan_path"];
  if (given !== undefined && given !== null) {
    if (typeof given !== "string" || !isAbsolute(given))
      throw new ToolInputError("The tool parameter plan_path must be an absolute path.");
    return given;
  }
  const older = join(workspaceDir, "PLAN.md");
  return (await kindAt(older, "plan_path")) === "file" ? older : join(workspaceDir, ".agents_tmp", "PLAN.md");
}

async function makePlan(plan: string): Promise<void> {
  if ((await kindAt(plan, "plan_path")) !== "nothing") return;
  await mkdir(dirname(plan), { recursive: true });
  await writeFile(plan, emptyForm, { flag: "wx" }).catch((error: unknown) => {
    // Another process created it in between.
    if (codeOf(error) !== "EEXIST") throw error;
  });
}

async function isEmptyForm(plan: string): Promise<boolean> {
  return (await readEditable(plan)).toString("utf8") === emptyForm;
}

async function isSameFile(path: string, plan: string): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  try {
    return (await realpath(path)) === (await realpath(plan));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return false;
    throw error;
  }
}

function asPlanning(observation: Awaited<ReturnType<FileEditor["execute"]>>): PlanningFileEditorObservation {
  return { ...observation, kind: "PlanningFileEditorObservation" };
}

function refusal(action: PlanningFileEditorAction, text: string): PlanningFileEditorObservation {
  return {
    kind: "PlanningFileEditorObservation",
    content: [textPart(text)],
    is_error: true,
    command: action.command,
    path: null,
    prev_exist: true,
    old_content: null,
    new_content: null,
  };
}

const emptyForm = `# 1. Objective

# 2. Context

# 3. Approach

# 4. Steps

# 5. Tests and checks
`;

function describe({ params }: ToolContext): string {
  const given = params["plan_path"];
  const place = typeof given === "string" ? given : ".agents_tmp/PLAN.md below your working directory";
  return `View files, and write the plan of the work. Every path is absolute. You may view every file and directory; the only file that you may change is the plan: ${place}, or a PLAN.md in the working directory itself where there is one.

The plan is there from the start, with a heading for each of its parts: objective, context, approach, steps, tests and checks. Fill them in.

Commands:
- view: shows a file with line numbers, or only the lines view_range [first, last] of it (last = -1: to the end); for a directory it lists what is visible down to two levels.
- create: writes the whole plan, as long as it is empty.
- str_replace: replaces old_str, which must stand in the plan exactly once, by new_str.
- insert: adds new_str as whole lines after line insert_line (0 = before the first line).
- undo_edit: takes back the last edit.`;
}
