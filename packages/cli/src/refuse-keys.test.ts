import { expect, test } from "vitest";
import { runCli } from "../test/run-cli.ts";
import { refuseKeys } from "./refuse-keys.ts";

const hex = "c0ffee".repeat(11).slice(0, 64);
const base58 = "5Kd3NBUAdUnhyzenEwVLy9pBKxSwXvE9FMPyR4UKZvpe6E3AgLr".repeat(2).slice(0, 88);
const bytes = Array.from({ length: 64 }, (_, i) => i * 3);
const words = "legal winner thank year wave sausage worth useful legal winner thank yellow";

test.each([
	["hex", [hex]],
	["hex with 0x", ["swap", "--id", `0x${hex}`]],
	["hex in capitals", [hex.toUpperCase()]],
	["hex behind an equals sign", [`--private-key=${hex}`]],
	["a key pair in base58", ["--key", base58]],
	["a JSON array", [JSON.stringify(bytes)]],
	["a JSON array that the shell split", ["--key", ...JSON.stringify(bytes, null, 1).split(/\s+/)]],
	["a mnemonic", ["--id", words]],
	["a mnemonic without quotes", words.split(" ")],
	["an API key", ["--api-key", `geosk_0123456789ab_${"0".repeat(47)}`]],
])("a secret in the arguments is refused and not printed: %s", async (_, args) => {
	const { exit, stdout, stderr } = await runCli([...args, "--json"], { env: {} });
	expect(exit).toBe(2);
	expect(JSON.parse(stdout).error.code).toBe("KEY_IN_ARGUMENTS");
	for (const secret of args.filter((arg) => arg.length > 20)) expect(stdout + stderr).not.toContain(secret);
});

test("addresses, swap ids, hashes with their prefix and keys in RPC URLs are accepted", () => {
	refuseKeys([
		...["swap", "--from", "8453:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "--recipient"],
		...["EST2WdwfFcfd6aiFX9nHa2ogD25sCBnLjiK9PCRuzbNs", "swp_01m7g1sa2be008j9r4pw0rzatg"],
		...[
			"--deployment-sha256",
			`sha256:${hex}`,
			"--amount",
			"100000000000000000000",
			"--id",
			"order 17, for the cat",
		],
		...["--rpc", "1=https://eth.example/v2/0123456789abcdef0123456789abcdef"],
		...[`10=https://rpc.example/${hex}`, `--rpc=8453=HTTPS://rpc.example/?key=${hex}&a=b`],
	]);
});

test.each([
	[["--base-url", `https://a.example/${hex}`]],
	[[`--base-url=https://a.example/${hex}`]],
	[["--rpc", `1=${hex}`]],
	[["--rpc", `1=https://a.example ${hex}`]],
])("a key outside the URL of --rpc is refused: %j", (args) => {
	expect(() => refuseKeys(args)).toThrow("looks like a private key");
});

test.each([
	[["swap", "--solana-key=4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"], "unknown option '--solana-key'"],
	[["swap", "--4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"], "unknown option."],
	[["swap", "--x=it's 4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw'"], "unknown option '--x'"],
	[["4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"], "unknown command."],
	[["swop"], "unknown command 'swop' (Did you mean swap?)"],
])(
	"the error for an unknown option or command names it unless it may be a key: %j",
	async (args, message) => {
		const { exit, stdout, stderr } = await runCli(args, { env: {} });
		expect(exit).toBe(2);
		expect(stdout + stderr).toContain(message);
		expect(stdout + stderr).not.toContain("4wBq");
	},
);
