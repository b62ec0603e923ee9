import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "../lib/copy-text.ts";
import { useWords } from "../words/words.ts";
import { IconButton } from "./button.tsx";

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const words = useWords();
  const [isDone, setIsDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setIsDone(false), 1_500);
    return () => clearTimeout(timer);
  }, [isDone]);
  const name = isDone ? words.common.copied : (label ?? words.common.copy);
  return (
    <IconButton label={name} size="small" onClick={() => void copyText(text).then(setIsDone)}>
      {isDone ? <Check size={13} /> : <Copy size={13} />}
    </IconButton>
  );
}
