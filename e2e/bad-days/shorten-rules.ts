/** The rules' waits and windows are divided by this in the tests. Their thresholds stay as they are. */
export const shortening = 10;

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the rules with every `for`, window and offset divided by `shortening`. */
export function shortenRules(rules: string): string {
	return rules
		.replaceAll(/^(\s*(?:for|keep_firing_for): )(\d+[smhd])$/gm, (_, name, wait) => `${name}${shorten(wait)}`)
		.replaceAll(/\[(\d+[smhd])(?::(\d+[smhd])?)?\]/g, (all, window, step) => {
			if (!all.includes(":")) return `[${shorten(window)}]`;
			return `[${shorten(window)}:${step ? shorten(step) : ""}]`;
		})
		.replaceAll(/\boffset (\d+[smhd])\b/g, (_, offset) => `offset ${shorten(offset)}`);
}

function shorten(duration: string): string {
	const ms = Number.parseInt(duration, 10) * (unitMs[duration.slice(-1)] ?? 0);
	return `${ms / shortening}ms`;
}
