/** What `reading` a file or folder comes to, or `otherwise` where there is none. */
export async function ifThere<Found, Otherwise>(
  reading: Promise<Found>,
  otherwise: Otherwise,
): Promise<Found | Otherwise> {
  return await reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  });
}
