import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { deploymentSchema, solanaDeploymentSchema } from "@geoswap/protocol";
import { createSolanaRpc, generateKeyPairSigner } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { expect, test } from "vitest";
import { developmentSolanaAddresses, solanaKeyVariables, startTestSolana } from "../src/index.ts";
import { isRunning } from "../src/is-running.ts";
import { solanaClient } from "./solana-client.ts";

test("a test gets its own chain with a valid deployment and known development keys", async () => {
	const solana = await startTestSolana();
	try {
		expect(solanaDeploymentSchema.parse(solana.deployment)).toEqual(solana.deployment);
		expect(deploymentSchema.shape).toHaveProperty("solana");
		const { feePayers, program } = solana.deployment;
		expect(developmentSolanaAddresses()).toEqual(
			expect.arrayContaining([...feePayers, program.address, program.operator]),
		);
		expect(solanaKeyVariables(solana.keys)).toEqual({
			GEOSWAP_SOLANA_FEE_PAYER_KEYS: expect.stringMatching(/^[1-9A-Za-z]+,[1-9A-Za-z]+$/),
			GEOSWAP_SOLANA_OPERATOR_KEY: expect.stringMatching(/^[1-9A-Za-z]+$/),
		});
	} finally {
		await solana.stop();
	}
	expect(isRunning(solana.pid)).toBe(false);
});

test("chains started at the same time are separate, and each ignores transactions signed for the other", async () => {
	const [one, two] = await Promise.all([startTestSolana(), startTestSolana()]);
	try {
		const [here, there] = await Promise.all([solanaClient(one), solanaClient(two)]);
		const to = (await generateKeyPairSigner()).address;
		const signed = await here.sign([
			getTransferSolInstruction({ source: here.payer, destination: to, amount: 1_000_000_000n }),
		]);
		await Promise.all([here.send(signed.wire), there.send(signed.wire)]);
		await Promise.all([one, two].map(({ admin }) => admin.warp({ slots: 3 })));
		expect(await here.statusOf(signed.signature)).not.toBeNull();
		expect(await there.statusOf(signed.signature)).toBeNull();
	} finally {
		await Promise.all([one.stop(), two.stop()]);
	}
});

test("the chain ends when the process that started it is killed", async () => {
	const source = `
		const { startTestSolana } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
		const { pid, rpcUrl } = await startTestSolana();
		console.log(JSON.stringify({ pid, rpcUrl }));
		setInterval(() => {}, 1_000);
	`;
	const parent = spawn(process.execPath, ["--input-type=module", "-e", source], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const [line] = await once(parent.stdout, "data");
	const { pid, rpcUrl } = JSON.parse(String(line)) as { pid: number; rpcUrl: string };
	expect(await createSolanaRpc(rpcUrl).getHealth().send()).toBe("ok");
	parent.kill("SIGKILL");
	await expect.poll(() => isRunning(pid), { timeout: 5_000 }).toBe(false);
	await expect(createSolanaRpc(rpcUrl).getHealth().send()).rejects.toThrow();
});

test("a burst of 500 transactions lands before its blockhash expires", async () => {
	const solana = await startTestSolana({ slotMs: 400 });
	try {
		const client = await solanaClient(solana);
		const lifetime = await client.latest();
		const signed = await Promise.all(
			Array.from({ length: 500 }, (_, index) =>
				client.sign(
					[
						getTransferSolInstruction({
							source: client.payer,
							destination: client.stranger.address,
							amount: BigInt(index + 1),
						}),
					],
					{ lifetime },
				),
			),
		);
		await Promise.all(signed.map(({ wire }) => client.send(wire, { skipPreflight: false })));
		for (const batch of [signed.slice(0, 250), signed.slice(250)]) {
			const signatures = batch.map(({ signature }) => signature);
			const unlanded = async () => {
				const { value } = await client.rpc.getSignatureStatuses(signatures).send();
				return value.filter((status) => status === null || status.err !== null).length;
			};
			await expect.poll(unlanded, { timeout: 5_000 }).toBe(0);
		}
	} finally {
		await solana.stop();
	}
});

test("slots that are missed while the process is halted are produced afterwards, and no others", async () => {
	const solana = await startTestSolana({ slotMs: 40 });
	try {
		const rpc = createSolanaRpc(solana.rpcUrl);
		const slot = async () => Number(await rpc.getSlot({ commitment: "processed" }).send());
		const startedAt = performance.now();
		const first = await slot();
		// While halted, the process misses some slots, and makes up for them afterwards.
		process.kill(solana.pid, "SIGSTOP");
		await sleep(1_000);
		process.kill(solana.pid, "SIGCONT");
		await expect.poll(slot, { timeout: 5_000 }).toBeGreaterThanOrEqual(first + 25);
		expect((await slot()) - first).toBeLessThanOrEqual((performance.now() - startedAt) / 40 + 2);
	} finally {
		await solana.stop();
	}
});
