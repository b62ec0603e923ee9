/** Of files whose names change with what is in them. */
export const hashedPaths = /^\/assets\//;
