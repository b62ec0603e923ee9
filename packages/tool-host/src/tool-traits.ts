/** What others must know of a tool to treat its calls right. Data alone: it crosses to servers on other machines. */
export type ToolTraits = {
  /** Its call ends the turn: it waits for the calls before it, and those after it are dropped. */
  readonly endsTurn?: true;
  /** Alone in an answer it waits for nobody's confirmation, because it touches nothing. */
  readonly needsNoApproval?: true;
  /** The field of its action that names the one file a call touches; a relative one is below `base`. */
  readonly file?: { readonly field: string; readonly base: string };
  /** The field of its action that has a patch, which names the files that a call touches; relative ones are below `base`. */
  readonly patch?: { readonly field: string; readonly base: string };
  /** What its calls share with those of every other tool that names the same place. */
  readonly place?: string;
  /** The field of its arguments that names a place of its own within `place`. */
  readonly placeField?: string;
  /** What it changes is the plan of the work alone: an agent that plans has it. */
  readonly writesPlan?: true;
  /** The field of its action that a shell runs. */
  readonly shellField?: string;
};
