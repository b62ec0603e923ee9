/** What the server must know about a tool to handle its calls. Plain data, because it is sent to servers on other machines. */
export type ToolTraits = {
  /** Its call ends the turn: it waits for earlier calls, and later ones are dropped. */
  readonly endsTurn?: true;
  /** As the only call of an answer it needs no confirmation, because it has no effects. */
  readonly needsNoApproval?: true;
  /** Its call waits for confirmation under every confirmation policy, unless a rule allows or denies it. */
  readonly alwaysAsks?: true;
  /** The action's field with the one file that a call touches; a relative path is below `base`. */
  readonly file?: { readonly field: string; readonly base: string };
  /** The action's field with a patch, which names the files that a call touches; relative paths are below `base`. */
  readonly patch?: { readonly field: string; readonly base: string };
  /** A place that its calls share with those of every other tool that names the same place. */
  readonly place?: string;
  /** The argument that names a separate place within `place`. */
  readonly placeField?: string;
  /** It changes only the plan, so a planning agent may use it. */
  readonly writesPlan?: true;
  /** The action's field that a shell runs. */
  readonly shellField?: string;
};
