import type { Landmarks, PastState } from "@convoke/protocol";
import { ChevronLeft, ChevronRight, Pause, Play } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { shownCost } from "@convoke/client/view";
import { exactTime } from "../lib/shown-times.ts";
import { useServices } from "../services/services.ts";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { markAt, nextMark } from "./mark-places.ts";
import { ScrubberMarks } from "./scrubber-marks.tsx";
import { ScrubberSpent, SpentThere } from "./scrubber-spent.tsx";
import { spentAt } from "./spent-lines.ts";

type ScrubberProps = {
  readonly past: Pick<PastState, "position" | "length" | "timestamp">;
  /** Null until they are loaded. */
  readonly landmarks: Landmarks | null;
  readonly wanted: number | null;
  readonly goTo: (position: number) => void;
  readonly onNow: () => void;
};

/** Milliseconds per event during playback. */
const stepMs = 800;
const speeds = [1, 2, 4, 8] as const;

/**
 * A slider over all events of the log, with marks. Keys: arrows, page keys, Home and End; Shift and arrows for the
 * previous or next mark; space plays.
 */
export function Scrubber({ past, landmarks, wanted, goTo, onNow }: ScrubberProps) {
  const words = useMoreWords().past;
  const { language } = useServices();
  const slider = useRef<HTMLInputElement>(null);
  // The dragged position; the conversation follows when it rests.
  const hand = wanted ?? past.position;
  useEffect(() => slider.current?.focus(), []);
  const [isPlaying, setIsPlaying] = useState(false);
  const [gear, setGear] = useState(0);
  const speed = speeds[gear]!;
  const isAtEnd = hand >= past.length;
  useEffect(() => {
    // The next step starts when this event is shown.
    if (!isPlaying || wanted !== null) return;
    if (isAtEnd) return setIsPlaying(false);
    const timer = setTimeout(() => goTo(hand + 1), stepMs / speed);
    return () => clearTimeout(timer);
  }, [isPlaying, wanted, isAtEnd, hand, speed, goTo]);
  const play = (): void => {
    // At the end playback starts over.
    if (!isPlaying && isAtEnd) goTo(1);
    setIsPlaying(!isPlaying);
  };
  const place = words.place(hand, past.length);
  const mark = markAt(landmarks, hand);
  const spent = spentAt(landmarks?.spent ?? [], hand);
  const spentText =
    spent && words.spent(shownCost(spent.cost), spent.context && Math.round(spent.context * 100));
  const time = hand === past.position && past.timestamp !== null ? exactTime(past.timestamp, language) : "";
  return (
    <div
      role="group"
      aria-label={words.label}
      onKeyDown={(event) => {
        if (event.key === "Escape") onNow();
        if (event.target !== slider.current) return;
        const isForward = event.key === "ArrowRight";
        if (event.shiftKey && (isForward || event.key === "ArrowLeft")) {
          event.preventDefault();
          const next = nextMark(landmarks, hand, isForward);
          if (next !== null) goTo(next);
        }
        if (event.key !== " ") return;
        event.preventDefault();
        play();
      }}
      className="flex min-h-11 shrink-0 items-center gap-x-1.5 border-b border-line bg-raised px-1.5 max-[720px]:flex-wrap"
    >
      <IconButton label={isPlaying ? words.hold : words.play} onClick={play}>
        {isPlaying ? <Pause size={15} /> : <Play size={15} />}
      </IconButton>
      <button
        type="button"
        aria-label={words.speed(speed)}
        onClick={() => setGear((gear + 1) % speeds.length)}
        className="h-7 w-7 shrink-0 rounded-md text-xs text-faint tabular-nums hover:bg-hover hover:text-ink pointer-coarse:h-11 pointer-coarse:w-11"
      >
        {`${speed}×`}
      </button>
      <IconButton label={words.earlier} disabled={hand <= 1} onClick={() => goTo(hand - 1)}>
        <ChevronLeft size={16} />
      </IconButton>
      <div className="flex min-w-0 grow basis-0 flex-col">
        <div className="relative flex">
          <input
            ref={slider}
            type="range"
            min={1}
            max={past.length}
            value={hand}
            aria-label={words.slider}
            aria-valuetext={[place, mark && words.marks[mark], spentText, time].filter(Boolean).join(", ")}
            onChange={(event) => goTo(event.target.valueAsNumber)}
            className="h-7 min-w-0 grow accent-accent-fill pointer-coarse:h-11"
          />
          {landmarks !== null && <ScrubberMarks landmarks={landmarks} length={past.length} />}
        </div>
        {landmarks !== null && landmarks.spent.length > 0 && (
          <ScrubberSpent spent={landmarks.spent} length={past.length} hand={hand} goTo={goTo} />
        )}
      </div>
      <IconButton label={words.later} disabled={hand >= past.length} onClick={() => goTo(hand + 1)}>
        <ChevronRight size={16} />
      </IconButton>
      <p className="shrink-0 px-1.5 text-right text-xs text-soft tabular-nums max-[720px]:order-first max-[720px]:flex max-[720px]:w-full max-[720px]:justify-between max-[720px]:pt-1.5">
        <span className="block">{place}</span>
        <time dateTime={past.timestamp ?? undefined} className="block min-h-[1lh] text-faint">
          {time}
        </time>
        {spent !== null && <SpentThere spent={spent} />}
      </p>
    </div>
  );
}
