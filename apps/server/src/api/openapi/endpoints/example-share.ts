/** The secret part of an example link. */
export const exampleShare = "Yk3xwT9vQmZ2r0aLc8NfUe1B";
