/** The number of pending items. */
export function Count({ count }: { readonly count: number }) {
  return (
    <span className="min-w-4.5 rounded-full bg-warn px-1 text-center text-xs leading-[1.125rem] font-medium text-canvas">
      {count}
    </span>
  );
}
