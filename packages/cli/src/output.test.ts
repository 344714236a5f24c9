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

test.each([1, 8, 11, 12, 39])(
	"on a terminal of %i columns, lines are 40 columns or shorter",
	async (columns) => {
		const lines: Line[] = [
			["swap", `word ${"x".repeat(100)}`],
			"y".repeat(50),
			[`${"z".repeat(60)}`, "text"],
		];
		const text = await written(lines, columns);
		for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(40);
		expect(text.replace(/\s/g, "")).toBe(`swapword${"x".repeat(100)}${"y".repeat(50)}${"z".repeat(60)}text`);
	},
);

test("a command is printed on one line, even if the terminal is narrower", async () => {
	const command = `geoswap history --cursor=${"x".repeat(100)} reboot`;
	expect(await written([{ label: "more", command }], 40)).toBe(`more       ${command}\n`);
});

test("a long label is separated from its text", async () => {
	const lines: Line[] = [
		["  USDC", "5"],
		["  wstETH-LP2", "898.47"],
		["  sUSDe1234", "12"],
	];
	expect(await written(lines)).toBe("  USDC     5\n  wstETH-LP2 898.47\n  sUSDe1234 12\n");
});

test("a value from the service that is not text is printed", async () => {
	const answer = JSON.parse('{ "requestId": 5 }');
	expect(await written([["request", answer.requestId]])).toBe("request    5\n");
});
