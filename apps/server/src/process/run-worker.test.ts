import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { solanaFeeds, solanaKeyVariables, startTestChains, startTestSolana } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { expect, onTestFinished, test } from "vitest";

test("a worker does not start while the vault on Solana lacks a token account, and names what is missing", async () => {
	const chains = await startTestChains();
	onTestFinished(() => chains.stop());
	const { origin, deployment, keys } = chains;
	const solana = await startTestSolana({ feeds: solanaFeeds(origin.deployment) });
	onTestFinished(() => solana.stop());
	const [stranger] = solana.keys.strangers;
	if (!stranger) throw new Error("the devnet has no strangers");
	// The mint of a token that the vault has never had.
	const { address: mint } = await createKeyPairSignerFromBytes(stranger);
	const [asset] = solana.deployment.assets;
	if (!asset) throw new Error("the devnet has assets");
	const assets = [...solana.deployment.assets, { ...asset, symbol: "OTHER", address: mint }];

	const folder = mkdtempSync(join(tmpdir(), "geoswap-worker-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	writeFileSync(
		join(folder, "deployment.json"),
		formatDeployment({ ...deployment, solana: { ...solana.deployment, assets } }),
	);
	const pace = { finalitySeconds: 8, openSeconds: 75, fillSeconds: 60, refundSeconds: 30 };
	const config = join(folder, "config.json");
	writeFileSync(
		config,
		JSON.stringify({
			deployment: "deployment.json",
			chains: { [origin.chainId]: { nodes: [{ url: origin.rpcUrl }], ...pace } },
			solana: {
				nodes: [{ url: solana.rpcUrl }],
				...pace,
				blockhashSeconds: { least: 20, most: 35 },
			},
			api: { port: 0 },
			worker: { port: 0 },
			restate: { ingressUrl: "http://127.0.0.1:9", adminUrl: "http://127.0.0.1:9" },
			attesters: [{ url: "http://127.0.0.1:9" }, { url: "http://127.0.0.1:9" }],
		}),
	);
	const env = {
		PATH: process.env.PATH,
		WORKER_DATABASE_URL: "postgres://127.0.0.1:9/x",
		GEOSWAP_RELAYER_KEYS: `${origin.chainId}:${keys.relayers[0]}`,
		...solanaKeyVariables(solana.keys),
	};
	const outcome = await new Promise((resolve) => {
		const args = [join(import.meta.dirname, "../main.ts"), "worker", "--config", config];
		const child = execFile(process.execPath, args, { env }, (_, __, stderr) =>
			resolve({ code: child.exitCode, stderr }),
		);
		onTestFinished(() => {
			child.kill("SIGKILL");
		});
	});
	expect(outcome).toMatchObject({
		code: 2,
		stderr: expect.stringContaining(
			`solana: the vault ${solana.deployment.program.vault} has no cap for OTHER`,
		),
	});
});
