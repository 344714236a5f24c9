const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes the text for use between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
	return text.replace(/[&<>"]/g, (character) => entities[character] ?? "");
}
