type ProblemProps = {
  readonly text: string | null;
  /** The class of its margin. */
  readonly className?: string;
};

/** An error message in a box; nothing if there is no text. */
export function Problem({ text, className = "mb-3" }: ProblemProps) {
  return (
    text !== null && (
      <p role="alert" className={`rounded-md bg-bad-wash px-3 py-1.5 text-sm text-bad ${className}`}>
        {text}
      </p>
    )
  );
}
