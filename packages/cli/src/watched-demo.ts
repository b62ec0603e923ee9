import type { Demo } from "@convoke/server";
import { createScriptedModel } from "@convoke/server/scripted-model";
import { demoTask, watchedDemoScript, writeDemoProject } from "./demo-project.ts";

/** The demo for watchers in the page. */
export const watchedDemo: Demo = {
  title: "Repair the failing test",
  task: demoTask,
  writeProject: writeDemoProject,
  openModel: (folder) => createScriptedModel(watchedDemoScript(folder)),
};
