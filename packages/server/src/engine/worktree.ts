/** A git worktree of a conversation, and of the forks that continue in it. */
export type Worktree = {
  /** The root of its repository. */
  readonly repository: string;
  readonly root: string;
  readonly branch: string;
  /** The commit at which the branch starts. */
  readonly base: string;
  /** Creation time of its first conversation; epoch microseconds. */
  readonly since: number;
};
