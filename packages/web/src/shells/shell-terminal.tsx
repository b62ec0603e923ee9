import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { ShellLink } from "./shell-link.ts";

type ShellTerminalProps = {
  readonly conversationId: string;
  readonly shell: string;
  /** Control and ] were pressed. */
  readonly onLeave: () => void;
  readonly onEnded: () => void;
};

/** Terminal colours assume a dark background, in every theme. */
const xtermTheme = { background: "#16171a", foreground: "#e7e8eb", cursor: "#e7e8eb" };

/** Keys that phones do not have. */
const extraKeys = [
  ["Esc", "\u001b"],
  ["Tab", "\t"],
  ["Ctrl+C", "\u0003"],
  ["↑", "\u001b[A"],
  ["↓", "\u001b[B"],
] as const;

/** One shell in a terminal that fills its container. */
export function ShellTerminal({ conversationId, shell, onLeave, onEnded }: ShellTerminalProps) {
  const words = useMoreWords().shells;
  const { client } = useServices();
  const place = useRef<HTMLDivElement>(null);
  const type = useRef<(text: string) => void>(() => {});
  const [note, setNote] = useState<string | null>(null);
  const latest = useRef({ onLeave, onEnded, words });
  useEffect(() => {
    latest.current = { onLeave, onEnded, words };
  }, [onLeave, onEnded, words]);
  useEffect(() => {
    const target = place.current;
    if (target === null) return;
    const terminal = new Terminal({
      fontSize: 13,
      fontFamily: getComputedStyle(target).fontFamily,
      minimumContrastRatio: 4.5,
      scrollback: 10_000,
      theme: xtermTheme,
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(target);
    terminal.textarea?.setAttribute("aria-label", latest.current.words.input);
    // After a reconnect the output is replayed; terminal queries in it were answered before.
    let isReplaying = true;
    const adapt = (): void => {
      const size = fit.proposeDimensions();
      if (size === undefined || Number.isNaN(size.cols) || isReplaying) return;
      const [columns, rows] = [Math.max(size.cols, 2), Math.max(size.rows, 2)];
      if (columns === terminal.cols && rows === terminal.rows) return;
      terminal.resize(columns, rows);
      link.send({ type: "resize", columns, rows });
    };
    const link = new ShellLink(client, conversationId, shell, {
      take: (frame) => {
        if (frame.type === "output") return terminal.write(frame.text);
        if (frame.type === "size") return terminal.resize(frame.columns, frame.rows);
        isReplaying = true;
        terminal.resize(frame.columns, frame.rows);
        terminal.write(frame.text, () => {
          isReplaying = false;
          adapt();
        });
      },
      end: (exitCode) => {
        setNote(latest.current.words.ended(exitCode));
        latest.current.onEnded();
      },
      report: setNote,
    });
    type.current = (text) => link.send({ type: "type", text });
    terminal.onData((text) => {
      if (!isReplaying) for (const part of splitTyped(text)) type.current(part);
    });
    terminal.attachCustomKeyEventHandler(({ type: kind, ctrlKey, key }) => {
      if (!ctrlKey || key !== "]") return true;
      if (kind === "keydown") latest.current.onLeave();
      return false;
    });
    const observer = new ResizeObserver(adapt);
    observer.observe(target);
    terminal.focus();
    return () => {
      observer.disconnect();
      link.stop();
      terminal.dispose();
    };
  }, [client, conversationId, shell]);
  return (
    <>
      {note !== null && (
        <p role="status" className="shrink-0 px-3 py-1.5 text-sm text-soft">
          {note}
        </p>
      )}
      <div className="min-h-0 grow bg-[#16171a] p-2">
        <div ref={place} className="size-full overflow-hidden font-mono" />
      </div>
      <div className="hidden shrink-0 gap-1 overflow-x-auto border-t border-line p-1 pointer-coarse:flex">
        {extraKeys.map(([name, text]) => (
          // The terminal keeps the keyboard.
          <Button
            key={name}
            variant="quiet"
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => type.current(text)}
          >
            {name}
          </Button>
        ))}
      </div>
    </>
  );
}

const maxTypedLength = 50_000;

/** Pasted text may exceed the server's maximum frame. */
function splitTyped(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / maxTypedLength) }, (_, index) =>
    text.slice(index * maxTypedLength, (index + 1) * maxTypedLength),
  );
}
