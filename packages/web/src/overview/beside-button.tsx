import { Columns2 } from "lucide-react";
import { useLocation, useSearch } from "wouter";
import { toBeside } from "../lib/beside.ts";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

/** Opens a listed conversation in a side pane. Shown on hover and focus, if the screen has room for two panes. */
export default function BesideButton({ id, title }: { readonly id: string; readonly title: string }) {
  const words = useMoreWords().beside;
  const [path, navigate] = useLocation();
  const search = useSearch();
  return (
    <IconButton
      size="small"
      label={words.open(title)}
      onClick={() => navigate(toBeside({ path, search, width: innerWidth }, id))}
      className="absolute right-2.5 bottom-0.5 bg-rail opacity-0 group-focus-within/entry:opacity-100 group-hover/entry:opacity-100 max-[1100px]:hidden"
    >
      <Columns2 size={13} />
    </IconButton>
  );
}
