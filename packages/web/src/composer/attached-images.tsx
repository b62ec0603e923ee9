import { X } from "lucide-react";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";

type AttachedImagesProps = {
  /** As data URLs. */
  readonly images: readonly string[];
  readonly onChange: (images: readonly string[]) => void;
};

/** The attached images, each with a button that removes it. */
export function AttachedImages({ images, onChange }: AttachedImagesProps) {
  const words = useMoreWords().attachedImages;
  return (
    <ul className="flex flex-wrap gap-2 px-3 pt-2.5">
      {images.map((image, index) => (
        <li key={`${image.length} ${image.slice(-32)}`} className="relative">
          <img src={image} alt={words.image(index + 1)} className="h-16 rounded border border-line" />
          <IconButton
            label={words.remove(index + 1)}
            size="small"
            className="absolute -top-2 -right-2 border border-line bg-canvas"
            onClick={() => onChange(images.filter((other) => other !== image))}
          >
            <X size={12} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
