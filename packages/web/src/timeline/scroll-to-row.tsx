import { useLayoutEffect } from "react";
import type { Row } from "@convoke/client/view";
import type { PlaceProps } from "./timeline.tsx";

/** The id of the row for an event: its own, that of the call that it answers, or the last one before it. */
export function rowOf(rows: readonly Row[], eventId: string): string | null {
  const own = rows.find(
    (row) => row.id === eventId || (row.type === "action" && row.outcome?.id === eventId),
  );
  return (own ?? rows.findLast(({ id }) => id <= eventId) ?? rows[0])?.id ?? null;
}

/** Scrolls a row to the middle of the screen and focuses it, once per target. */
export function ScrollToRow({ list, scroller, index, place, onPlaced }: PlaceProps) {
  const isThere = index >= 0;
  useLayoutEffect(() => {
    if (!isThere) return;
    let tries = 0;
    let frame = 0;
    // Rows are measured after rendering: the offset is final after some frames.
    const settle = (): void => {
      tries += 1;
      list.current?.scrollToIndex(index, { align: "center" });
      if (tries < framesToRest) {
        frame = requestAnimationFrame(settle);
        return;
      }
      scroller.current?.querySelector<HTMLElement>("[aria-current]")?.focus({ preventScroll: true });
      onPlaced();
    };
    frame = requestAnimationFrame(settle);
    return () => cancelAnimationFrame(frame);
    // The index changes when older pages are prepended; the target does not.
    // eslint-disable-next-line react/exhaustive-deps
  }, [place, isThere]);
  return null;
}

const framesToRest = 8;
