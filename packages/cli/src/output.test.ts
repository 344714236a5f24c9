import { expect, test } from "vitest";
import type { Sink } from "./io.ts";
import { createOutput, type Line } from "./output.ts";

async function written(lines: Line[], columns?: number): Promise<string> {
	let text = "";
	const sink: Sink = {
		write: async (more) => {
			text += more;
		},
		isTerminal: columns !== undefined,
		columns: () => columns,
	};
	await createOutput({ env: {}, stdout: sink, stderr: sink }, false).result({}, lines);
	return text;
}

test.each([1, 8, 11, 12, 39])("a terminal of %i columns gets lines of 40", async (columns) => {
	const lines: Line[] = [["swap", `word ${"x".repeat(100)}`], "y".repeat(50), [`${"z".repeat(60)}`, "text"]];
	const text = await written(lines, columns);
	for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
	expect(text.replace(/\s/g, "")).toBe(`swapword${"x".repeat(100)}${"y".repeat(50)}${"z".repeat(60)}text`);
});

test("a command is on one line, however narrow the terminal: each half of it would be a command", async () => {
	const command = `geoswap history --cursor=${"x".repeat(100)} reboot`;
	expect(await written([{ label: "more", command }], 40)).toBe(`more       ${command}\n`);
});

test("a long word before a text stays apart from it", async () => {
	const lines: Line[] = [
		["  USDC", "5"],
		["  wstETH-LP2", "898.47"],
		["  sUSDe1234", "12"],
	];
	expect(await written(lines)).toBe("  USDC     5\n  wstETH-LP2 898.47\n  sUSDe1234 12\n");
});

test("what the service sent in the place of a text is shown, and ends nothing", async () => {
	const answer = JSON.parse('{ "requestId": 5 }');
	expect(await written([["request", answer.requestId]])).toBe("request    5\n");
});
