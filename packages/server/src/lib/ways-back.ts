/** What to do with a store that a newer version has used: the two ways out. */
export const waysBack =
  "use a newer version, or restore a backup of this one into another folder (convoke restore --from BACKUP --to FOLDER)";
