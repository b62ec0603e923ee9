/** A git worktree of a conversation, and of the forks that continue in it. */
export type Worktree = {
  /** The top folder of the repository that it belongs to. */
  readonly repository: string;
  readonly root: string;
  readonly branch: string;
  /** The commit that the branch began at. */
  readonly base: string;
  /** When the first conversation in it was made; epoch microseconds. */
  readonly since: number;
};
