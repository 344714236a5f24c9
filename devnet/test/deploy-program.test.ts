import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { programFile } from "@geoswap/geo-escrow";
import {
	decodeVaultAccount,
	deploymentSchema,
	expireOrder,
	type SolanaAddress,
	solanaNativeToken,
} from "@geoswap/protocol";
import { getBase64Encoder } from "@solana/kit";
import { numberToHex, zeroHash } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { solanaAddressOfKey, startTestSolana, type TestSolana } from "../src/index.ts";
import { type SolanaClient, solanaClient } from "./solana-client.ts";

const main = join(dirname(programFile), "deploy/main.ts");
const run = promisify(execFile);

let solana: TestSolana;
let client: SolanaClient;
let folder: string;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 20 });
	client = await solanaClient(solana);
	folder = mkdtempSync(join(tmpdir(), "deploy-program-"));
});
afterAll(async () => {
	await solana?.stop();
	rmSync(folder, { recursive: true, force: true });
});

type Report = {
	waiting: string[];
	program: { address: string; vault: SolanaAddress };
	steps: { name: string; outcome: string }[];
};

/** Writes the files of one deployment: a new program key, the roles, and a deployment file without the program. */
function newDeployment(name: string, config: object = {}) {
	const file = (part: string) => join(folder, `${name}-${part}.json`);
	const write = (part: string, content: string) => writeFileSync(file(part), content);
	const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
	const bytes = Buffer.concat([Buffer.from(d, "base64url"), Buffer.from(x, "base64url")]);
	write("program", JSON.stringify([...bytes]));
	const deployer = solana.keys.strangers[0] ?? new Uint8Array();
	write("deployer", JSON.stringify([...deployer]));
	const { program, ...onSolana } = solana.deployment;
	write("deployment", JSON.stringify({ chains: [], solana: onSolana }));
	const { threshold, attesters } = program.attesterSet;
	const roles = {
		upgradeAuthority: null,
		vault: {
			owner: solanaAddressOfKey(solana.keys.vaultOwner),
			guardian: client.stranger.address,
			operators: [solanaAddressOfKey(solana.keys.operator)],
			capsPerHour: { USDC: "25000.5", USDT: "1", SOL: "12" },
		},
		attesterSet: { threshold, attesters },
		...config,
	};
	write("config", JSON.stringify(roles));
	const env = { ...process.env, RPC_URL: solana.rpcUrl, DEPLOYER_KEY_FILE: file("deployer") };
	const args = ["--config", file("config"), "--out", file("deployment"), "--program-key", file("program")];
	return {
		file,
		env,
		args,
		address: solanaAddressOfKey(bytes),
		deploy: async (...more: string[]): Promise<Report> => {
			const { stdout } = await run(process.execPath, [main, ...args, "--json", ...more], { env }).catch(
				// The owner has to accept the vault.
				(error: { code: number; stdout: string }) => (error.code === 3 ? error : Promise.reject(error)),
			);
			return JSON.parse(stdout);
		},
		/** Returns what the command prints if it fails, and its exit code. */
		refusal: async (...more: string[]): Promise<{ code: number; text: string }> => {
			const failure = await run(process.execPath, [main, ...args, ...more], { env }).then(
				() => ({ code: 0, stderr: "" }),
				(error: { code: number; stderr: string }) => error,
			);
			return { code: failure.code, text: failure.stderr };
		},
	};
}

/** Returns a file with other code of the same length. */
function changedCode(): string {
	const code = readFileSync(programFile);
	code[code.length - 1] = (code.at(-1) ?? 0) ^ 1;
	const file = join(folder, "changed.so");
	writeFileSync(file, code);
	return file;
}

async function readData(address: SolanaAddress): Promise<Uint8Array> {
	const { value } = await client.rpc
		.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" })
		.send();
	return new Uint8Array(getBase64Encoder().encode(value?.data[0] ?? ""));
}

test("a dry run sends nothing; a run deploys the program as final, with a vault that has its roles and caps; the next run finds everything done", async () => {
	const { deploy, refusal, address, file } = newDeployment("first");
	const planned = await deploy("--dry-run");
	expect(planned.steps.every(({ outcome }) => outcome === "would do")).toBe(true);
	expect(await readData(address)).toHaveLength(0);

	const done = await deploy();
	expect(done.steps.map(({ name }) => name)).toEqual(planned.steps.map(({ name }) => name));
	expect(done.steps.every(({ outcome }) => outcome === "done")).toBe(true);
	const written = deploymentSchema.parse(JSON.parse(readFileSync(file("deployment"), "utf8")));
	expect(done.waiting[0]).toContain("has to accept the vault");
	expect(written.solana?.program).toEqual({
		...solana.deployment.program,
		deployedAtSlot: written.solana?.program?.deployedAtSlot,
		address,
		vault: done.program.vault,
	});
	expect(decodeVaultAccount(await readData(done.program.vault))).toMatchObject({
		isPaused: false,
		owner: client.stranger.address,
		pendingOwner: solanaAddressOfKey(solana.keys.vaultOwner),
		guardian: client.stranger.address,
		operators: [solanaAddressOfKey(solana.keys.operator)],
		caps: [
			{ token: solana.deployment.settlementToken, perHour: 25_000_500_000n },
			{ perHour: 1_000_000n },
			{ token: solanaNativeToken, perHour: 12_000_000_000n },
		],
	});
	// The program runs, since it fails with its own error, because the order does not exist.
	const { status } = await client.land([await expireOrder(address, zeroHash)]);
	expect(status.err).toEqual({ InstructionError: [2n, { Custom: 6n }] });

	const again = await deploy();
	expect(again.steps.every(({ outcome }) => outcome === "was done")).toBe(true);
	const final = await refusal("--code", changedCode());
	expect(final).toMatchObject({ code: 1, text: expect.stringContaining("the program is final") });
});

test("a run that was killed before it had written the code is finished by the next one", async () => {
	const { args, env, deploy } = newDeployment("killed", { upgradeAuthority: client.stranger.address });
	const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "ignore"] });
	for await (const line of createInterface({ input: child.stdout })) {
		if (/create a buffer/.test(line)) break;
	}
	child.kill("SIGKILL");
	const { steps } = await deploy();
	const [buffer, code, program] = steps.map(({ outcome }) => outcome);
	expect({ buffer, code, program }).toEqual({ buffer: "was done", code: "done", program: "done" });
});

test("the upgrade authority replaces the code, unless the new code needs a larger account", async () => {
	const { deploy, refusal, address } = newDeployment("upgraded", {
		upgradeAuthority: client.stranger.address,
	});
	await deploy();
	const code = new Uint8Array(readFileSync(programFile));
	const longer = join(folder, "longer.so");
	writeFileSync(longer, Buffer.concat([code, Buffer.from([1])]));
	const tooLong = await refusal("--code", longer);
	expect(tooLong).toMatchObject({
		code: 1,
		text: expect.stringContaining(`solana program extend ${address} 1`),
	});

	const { steps } = await deploy("--code", changedCode());
	expect(steps.find(({ name }) => name.startsWith("replace the code"))?.outcome).toBe("done");
});

test("lamports that a stranger sent to the buffer's address do not stop a deployment", async () => {
	const { deploy } = newDeployment("funded", { upgradeAuthority: client.stranger.address });
	const { steps } = await deploy("--dry-run");
	const buffer = / at (\S+)$/.exec(steps[0]?.name ?? "")?.[1] as SolanaAddress;
	await solana.admin.airdrop({ address: buffer, lamports: 890_880n });
	expect((await deploy()).steps[0]?.outcome).toBe("done");
});

test("a run with another deployer keeps the vault that the file lists, and another program is refused", async () => {
	const upgradeAuthority = client.payer.address;
	const { deploy, refusal, file } = newDeployment("handed", { upgradeAuthority });
	const { program } = await deploy();
	const [key = new Uint8Array()] = solana.keys.feePayers;
	writeFileSync(file("deployer"), JSON.stringify([...key]));
	const byOther = await refusal();
	expect(byOther).toMatchObject({
		code: 1,
		text: expect.stringContaining("another owner than the deployer"),
	});
	const owner = client.stranger.address;
	const config = JSON.parse(readFileSync(file("config"), "utf8"));
	writeFileSync(file("config"), JSON.stringify({ ...config, vault: { ...config.vault, owner } }));
	expect((await deploy()).program.vault).toBe(program.vault);
	const { file: other } = newDeployment("another");
	const replaced = await refusal("--program-key", other("program"));
	expect(replaced).toMatchObject({ code: 1, text: expect.stringContaining("--replace") });
});

test("a missing cap and a node of another cluster are refused before anything is sent", async () => {
	const { refusal, file } = newDeployment("refused");
	const config = JSON.parse(readFileSync(file("config"), "utf8"));
	config.vault.capsPerHour = { USDC: "1" };
	writeFileSync(file("config"), JSON.stringify(config));
	expect(await refusal()).toMatchObject({ code: 1, text: expect.stringContaining("vault.capsPerHour.USDT") });
	const deployment = readFileSync(file("deployment"), "utf8");
	const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
	writeFileSync(file("deployment"), deployment.replace(solana.deployment.genesisHash, genesisHash));
	expect(await refusal()).toMatchObject({ code: 1, text: expect.stringContaining("RPC_URL") });
	expect((await refusal("--compute-price", "much")).code).toBe(2);
	const { env, refusal: refused, file: large } = newDeployment("large");
	const many = Array.from({ length: 16 }, (_, i) => numberToHex(i + 1, { size: 20 }));
	const tooMany = JSON.parse(readFileSync(large("config"), "utf8"));
	tooMany.attesterSet = { threshold: 9, attesters: many };
	writeFileSync(large("config"), JSON.stringify(tooMany));
	expect(await refused()).toMatchObject({ code: 1, text: expect.stringContaining("takes 1270 bytes") });
	env.RPC_URL = "rpc.example/?api-key=secret";
	const unnamed = await refused();
	expect(unnamed.code).toBe(2);
	expect(unnamed.text).not.toContain("secret");
});
