import { Search } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { useMoreWords } from "../words/words.ts";

/** Search field: Enter opens the search page. */
export function HomeSearch() {
  const words = useMoreWords().search;
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  return (
    <form
      role="search"
      className="mt-8"
      onSubmit={(event) => {
        event.preventDefault();
        const q = typed.trim();
        navigate(q === "" ? "/search" : `/search?${new URLSearchParams({ q }).toString()}`);
      }}
    >
      <label className="flex h-9 items-center gap-2.5 rounded-lg border border-line bg-canvas px-3 text-faint focus-within:border-accent pointer-coarse:h-11">
        <Search size={15} aria-hidden="true" />
        <input
          type="search"
          aria-label={words.title}
          placeholder={words.title}
          value={typed}
          maxLength={400}
          spellCheck={false}
          enterKeyHint="search"
          onChange={(event) => setTyped(event.target.value)}
          className="w-full bg-transparent text-sm text-ink outline-none placeholder:text-faint pointer-coarse:text-[16px]"
        />
      </label>
    </form>
  );
}
