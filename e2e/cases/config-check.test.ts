import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { serverCommand } from "@geoswap/devnet";
import { expect, test } from "vitest";
import { sharedEnvironment } from "../shared-environment.ts";

type Finding = { part: string; result: "ok" | "warn" | "fail"; message: string };

test("config check finds no failure in a running service, also if its treasury acted, and prints none of its secrets", async ({
	onTestFinished,
}) => {
	const { serverEnvironment, deployment } = sharedEnvironment();
	const { GEOSWAP_CONFIG = "" } = serverEnvironment;
	// Beside the file, because paths in it are relative to it.
	const acting = `${GEOSWAP_CONFIG}.act`;
	const treasury = { mode: "act" };
	writeFileSync(acting, JSON.stringify({ ...JSON.parse(readFileSync(GEOSWAP_CONFIG, "utf8")), treasury }));
	onTestFinished(() => rmSync(acting));
	const findings: Finding[] = JSON.parse(
		await serverCommand(serverEnvironment, ["config", "check", "--json", "--config", acting]),
	);
	expect(findings.filter(({ result }) => result === "fail")).toEqual([]);
	const parts = findings.map(({ part }) => part);
	const logins = ["api", "worker", "auditor"].map((role) => `PostgreSQL as ${role}`);
	for (const part of [...logins, "Redis", "Restate ingress", "Restate admin", "Solana accounts"]) {
		expect(parts).toContain(part);
	}
	for (const { chainId } of deployment.chains) {
		for (const of of ["endpoint", "contracts", "feeds"]) expect(parts).toContain(`chain ${chainId} ${of}`);
		expect(parts).toContain(`attesters of chain ${chainId}`);
		expect(parts.filter((part) => part.startsWith(`chain ${chainId} treasurer`))).toHaveLength(1);
	}
	expect(findings.find(({ part }) => part === "treasury.policy")).toMatchObject({ result: "ok" });
	for (const start of ["chain 31337 relayer", "Solana fee payer", "attester http://127.0.0.1"]) {
		expect(parts.some((part) => part.startsWith(start))).toBe(true);
	}
	// Its output contains none of the secrets that it was given.
	const said = JSON.stringify(findings);
	const names = [
		"GEOSWAP_SEAL_KEYS",
		"GEOSWAP_API_KEY_PEPPER",
		"GEOSWAP_RELAYER_KEYS",
		"GEOSWAP_TREASURER_KEYS",
	];
	for (const name of names) {
		for (const secret of (serverEnvironment[name] ?? "").split(/[,:@]/).filter(({ length }) => length > 20)) {
			expect(said).not.toContain(secret);
		}
	}
});

test("the service of the shared stories moves no inventory, and would read attestations from a model of Iris", async () => {
	const { treasury } = JSON.parse(
		readFileSync(sharedEnvironment().serverEnvironment.GEOSWAP_CONFIG ?? "", "utf8"),
	);
	expect(treasury).toEqual({ iris: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) } });
	const unknown = await fetch(`${treasury.iris.url}/v2/messages/0?transactionHash=0x${"00".repeat(32)}`);
	expect(await unknown.json()).toEqual({ code: 404, error: "Message hash not found" });
});
