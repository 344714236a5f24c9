import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";

const scriptOf = async (shell: string) => (await runCli(["completion", shell], { env: {} })).stdout;

/** Has bash complete a line with the script. */
async function completions(line: string): Promise<string[]> {
	const words = line.split(" ");
	const setting = `COMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}`;
	const program = `${await scriptOf("bash")}\n${setting}; _geoswap; printf '%s\\n' "\${COMPREPLY[@]}"`;
	return execFileSync("bash", ["-c", program], { encoding: "utf8" }).trim().split("\n");
}

test("bash completes commands, and the options of the command that is typed", async () => {
	expect(await completions("geoswap st")).toEqual(["status"]);
	expect(await completions("geoswap swap --m")).toEqual(["--min-out", "--max-spend", "--mandate"]);
	expect(await completions("geoswap quote --acc")).toEqual([""]);
	expect(await completions("geoswap webhooks r")).toEqual(["rotate", "remove"]);
});

test.each(["bash", "zsh", "fish"])(
	"the script for %s names every command and every option of swap",
	async (shell) => {
		const { stdout: help } = await runCli(["--help"], { env: {} });
		const commands = [...help.matchAll(/^ {2}([a-z][a-z-]*) (?:\[|<| {2})/gm)].map(([, name = ""]) => name);
		expect(commands).toContain("completion");
		const script = await scriptOf(shell);
		for (const name of commands) expect(script).toContain(name);
		const { stdout: options } = await runCli(["swap", "--help"], { env: {} });
		for (const [, name = ""] of options.matchAll(/^ {2}(?:-h, )?--([a-z-]+)/gm))
			expect(script).toContain(name);
	},
);

test("another shell is rejected as wrong input", async () => {
	expect(await runCli(["completion", "tcsh"], { env: {} })).toMatchObject({ exit: 2 });
});
