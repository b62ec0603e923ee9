/** How the model calls the tool that gives work to a sub-agent. Calls of it run side by side. */
export const taskToolName = "task";
