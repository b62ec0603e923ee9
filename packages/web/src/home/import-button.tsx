import { Suspense, useState } from "react";
import { lazyPart } from "../lib/lazy-part.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

const ImportDialog = lazyPart(() => import("./import-dialog.tsx"));

/** Opens the dialog in which conversations are imported. */
export function ImportButton() {
  const words = useMoreWords().import;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="quiet" onClick={() => setOpen(true)}>
        {words.open}
      </Button>
      {isOpen && (
        <Suspense>
          <ImportDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
