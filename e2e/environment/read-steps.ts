/**
 * Returns the commands in the fenced blocks of a page's sections with these titles, and the text of the sections.
 * Without titles, the sections are those with the instructions of an alert's page.
 */
export function readSteps(
	page: string,
	titles: readonly string[] = ["Do this", "Check that"],
): { commands: string[]; text: string } {
	const parts = page
		.split(/^## /m)
		.slice(1)
		.filter((part) => titles.includes(part.slice(0, part.indexOf("\n"))));
	// Every other piece between fences is inside a block, and begins with the block's language.
	const blocks = parts.flatMap((part) => part.split(/^ *```/m).filter((_, i) => i % 2 === 1));
	const commands = blocks.flatMap((block) =>
		block
			.replace(/^\w*\n/, "")
			.replaceAll(/\\\n\s*/g, "")
			.split("\n")
			.map((line) => line.trim())
			.filter((line) => line !== "" && !line.startsWith("#")),
	);
	return { commands, text: parts.join("").replaceAll(/\s+/g, " ") };
}
