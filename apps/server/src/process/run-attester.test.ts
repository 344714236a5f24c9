import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { expect, onTestFinished, test } from "vitest";

test("an attester that receives SIGTERM exits with code 0, even with an open connection", async () => {
	const chains = await startTestChains();
	onTestFinished(() => chains.stop());
	const { origin, deployment, keys } = chains;
	const folder = mkdtempSync(join(tmpdir(), "geoswap-attester-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
	const config = join(folder, "attester.json");
	const file = { chains: { [origin.chainId]: { rpcUrl: origin.rpcUrl } }, port: 0 };
	writeFileSync(config, JSON.stringify({ deployment: "deployment.json", ...file }));
	const main = join(import.meta.dirname, "../main.ts");
	const attester = spawn(process.execPath, [main, "attester", "--config", config], {
		env: { PATH: process.env.PATH, GEOSWAP_ATTESTER_KEY: keys.attesters[0] ?? "" },
	});
	onTestFinished(() => {
		attester.kill("SIGKILL");
	});
	const url = await new Promise<string>((resolve) => {
		attester.stdout.on("data", (line: Buffer) => {
			const [, found] = /"url":"([^"]+)"/.exec(line.toString()) ?? [];
			if (found) resolve(found);
		});
	});
	// The connection stays open for the next request.
	expect((await fetch(`${url}/health`)).ok).toBe(true);
	const ended = new Promise((resolve) => attester.once("exit", (code, signal) => resolve({ code, signal })));
	attester.kill("SIGTERM");
	expect(await ended).toEqual({ code: 0, signal: null });
}, 60_000);
