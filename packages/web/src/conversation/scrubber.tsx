import type { PastState } from "@convoke/protocol";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useRef } from "react";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

type ScrubberProps = {
  readonly past: Pick<PastState, "position" | "length" | "timestamp">;
  readonly wanted: number | null;
  readonly goTo: (position: number) => void;
  readonly onNow: () => void;
};

/** A slider over all events of the log. It has the keys of every slider: arrows, page keys, Home and End. */
export function Scrubber({ past, wanted, goTo, onNow }: ScrubberProps) {
  const words = useMoreWords().past;
  const { language } = useServices();
  const slider = useRef<HTMLInputElement>(null);
  // Where the hand is; the conversation follows when it rests.
  const hand = wanted ?? past.position;
  useEffect(() => slider.current?.focus(), []);
  const place = words.place(hand, past.length);
  const time = hand === past.position && past.timestamp !== null ? exactTime(past.timestamp, language) : "";
  return (
    <div
      role="group"
      aria-label={words.label}
      onKeyDown={(event) => event.key === "Escape" && onNow()}
      className="flex min-h-11 shrink-0 items-center gap-x-1.5 border-b border-line bg-raised px-1.5 max-[720px]:flex-wrap"
    >
      <IconButton label={words.earlier} disabled={hand <= 1} onClick={() => goTo(hand - 1)}>
        <ChevronLeft size={16} />
      </IconButton>
      <input
        ref={slider}
        type="range"
        min={1}
        max={past.length}
        value={hand}
        aria-label={words.slider}
        aria-valuetext={time === "" ? place : `${place}, ${time}`}
        onChange={(event) => goTo(event.target.valueAsNumber)}
        className="h-7 min-w-0 grow accent-accent-fill pointer-coarse:h-11"
      />
      <IconButton label={words.later} disabled={hand >= past.length} onClick={() => goTo(hand + 1)}>
        <ChevronRight size={16} />
      </IconButton>
      <p className="shrink-0 px-1.5 text-right text-xs text-soft tabular-nums max-[720px]:order-first max-[720px]:flex max-[720px]:w-full max-[720px]:justify-between max-[720px]:pt-1.5">
        <span className="block">{place}</span>
        <time dateTime={past.timestamp ?? undefined} className="block min-h-[1lh] text-faint">
          {time}
        </time>
      </p>
    </div>
  );
}
