import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains } from "@geoswap/devnet";
import {
	attesterSetHash,
	formatDeployment,
	newSwapUuid,
	orderId,
	orderToJson,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { hexToBytes } from "viem";
import { expect, inject, onTestFinished, test } from "vitest";
import { plainOrder } from "../../test/order/plain-order.ts";
import { createTestDatabase } from "../../test/service/test-database.ts";

test("neither an API nor a worker starts without the escrow and the attester set of an open swap, and each names what is missing; once the swap has ended, the API starts and survives SIGHUP", async () => {
	const [chains, database] = await Promise.all([startTestChains(), createTestDatabase()]);
	onTestFinished(async () => {
		await Promise.all([chains.stop(), database.drop()]);
	});
	const { origin, deployment, keys } = chains;
	const { contracts, settlementToken } = origin.deployment;
	// The swap names an earlier escrow and attester set.
	const [escrow, attesterSet] = [
		contracts.accessManager,
		attesterSetHash({ threshold: 1, attesters: [contracts.vault] }),
	];
	const uuid = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const vault = toWord(contracts.vault);
	const token = toWord(settlementToken);
	const chainId = BigInt(origin.chainId);
	const order = plainOrder({
		swapKey: toSwapKey(uuid),
		originChainId: chainId,
		destinationChainId: chainId,
		escrow: toWord(escrow),
		originVault: vault,
		destinationVault: vault,
		attesterSet,
		inputToken: token,
		outputToken: token,
	});
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, delivery)
		values ($1, $2, $3, 0, 0, '{}')`,
		[uuid, hexToBytes(orderId(order)), orderToJson(order)],
	);

	const folder = mkdtempSync(join(tmpdir(), "geoswap-open-swaps-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
	const config = join(folder, "config.json");
	const nowhere = "http://127.0.0.1:9";
	const pace = { finalitySeconds: 8, openSeconds: 75, fillSeconds: 60, refundSeconds: 30 };
	writeFileSync(
		config,
		JSON.stringify({
			deployment: "deployment.json",
			chains: { [origin.chainId]: { nodes: [{ url: origin.rpcUrl }], ...pace } },
			api: { port: 0 },
			worker: { port: 0 },
			database: { roles: database.roles },
			restate: { ingressUrl: nowhere, adminUrl: nowhere },
			attesters: [{ url: nowhere }, { url: nowhere }],
		}),
	);
	const secrets = {
		api: {
			API_DATABASE_URL: database.urls.api,
			REDIS_URL: inject("redisUrl"),
			GEOSWAP_SEAL_KEYS: `one:${randomBytes(32).toString("base64url")}`,
			GEOSWAP_API_KEY_PEPPER: randomBytes(32).toString("hex"),
		},
		worker: {
			WORKER_DATABASE_URL: database.urls.worker,
			GEOSWAP_RELAYER_KEYS: `${origin.chainId}:${keys.relayers[0]}`,
		},
	};
	const start = (name: "api" | "worker") => {
		const args = [join(import.meta.dirname, "../main.ts"), name, "--config", config];
		const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...secrets[name] } });
		onTestFinished(() => {
			child.kill("SIGKILL");
		});
		const printed = { stdout: "", stderr: "" };
		for (const stream of ["stdout", "stderr"] as const)
			child[stream].on("data", (text) => {
				printed[stream] += text;
			});
		const exited = once(child, "close").then(([code]) => ({ code, ...printed }));
		return { child, printed, exited };
	};
	for (const outcome of await Promise.all([start("api").exited, start("worker").exited])) {
		expect(outcome).toMatchObject({
			code: 2,
			stderr: expect.stringContaining(
				`1 open swap needs the escrow ${escrow} of chain ${origin.chainId}, which is not listed; put it into earlierEscrows`,
			),
		});
		expect(outcome).toMatchObject({
			stderr: expect.stringContaining(
				`1 open swap needs the attester set ${attesterSet} of chain ${origin.chainId}, which is not listed; put it into earlierAttesterSets`,
			),
		});
	}

	await database.owner.query("update swaps set ended_at = now()");
	const { child, printed, exited } = start("api");
	await expect.poll(() => printed.stdout).toContain('"msg":"listening"');
	child.kill("SIGHUP");
	const [, port] = /"port":(\d+),"msg":"listening"/.exec(printed.stdout) ?? [];
	expect((await fetch(`http://127.0.0.1:${port}/health`)).ok).toBe(true);
	child.kill("SIGTERM");
	expect(await exited).toMatchObject({ code: 0 });
});
