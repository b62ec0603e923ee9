/** What went wrong, in a box; nothing without a text. `className` gives its margin. */
export function Problem({ text, className }: { readonly text: string | null; readonly className: string }) {
  return (
    text !== null && (
      <p role="alert" className={`rounded-md bg-bad-wash px-3 py-1.5 text-sm text-bad ${className}`}>
        {text}
      </p>
    )
  );
}
