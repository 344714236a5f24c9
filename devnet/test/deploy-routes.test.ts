import { DeployError, deployContracts, parseDeployConfig, type StepReport } from "@geoswap/contracts";
import { chainDeploymentSchema, geoVaultAbi, toWord } from "@geoswap/protocol";
import { type Address, parseAbi } from "viem";
import { beforeAll, expect, test } from "vitest";
import { cctpOf, type DevCctp } from "../src/index.ts";
import { chain, chains, config, deployer, newAddress, onChainsOfItsOwn, options } from "./deploy-test.ts";

onChainsOfItsOwn();

const routeAbi = parseAbi([
	"function VAULT() view returns (address)",
	"function MESSENGER() view returns (address)",
	"function TOKEN() view returns (address)",
	"function DOMAIN() view returns (uint32)",
	"function RECIPIENT() view returns (bytes32)",
	"function MAX_FEE_BPS() view returns (uint256)",
]);
const bridgeCap = 3;

let here: DevCctp;
let there: DevCctp;
let vaultThere: Address;

beforeAll(() => {
	[here, there] = [cctpOf(chains.origin), cctpOf(chains.destination)];
	vaultThere = chains.destination.deployment.contracts.vault;
});

function configWith(changes: object = {}, route: object = {}) {
	const { domain, tokenMessenger, messageTransmitter } = here;
	const routes = {
		[there.chain.chainId]: {
			domain: there.domain,
			vault: vaultThere,
			maxFeeBps: 14,
			capPerHour: "5000000",
			...route,
		},
	};
	return { ...config, cctp: { domain, tokenMessenger, messageTransmitter, routes, ...changes } };
}

function deploy(config: object, onStep?: (report: StepReport) => void) {
	return deployContracts({ ...options(onStep), config: parseDeployConfig(config) });
}

test("a run deploys the routes of the config with their caps, records them, and does nothing the next time", async () => {
	const deployment = await deploy(configWith());
	expect(chainDeploymentSchema.parse(deployment)).toEqual(deployment);
	const route = deployment.cctp?.routes[there.chain.chainId] as Address;
	const { vault } = deployment.contracts;
	const read = (functionName: (typeof routeAbi)[number]["name"]) =>
		chain.publicClient.readContract({ address: route, abi: routeAbi, functionName });
	expect(await read("VAULT")).toBe(vault);
	expect(await read("MESSENGER")).toBe(here.tokenMessenger);
	expect(await read("TOKEN")).toBe(deployment.settlementToken);
	expect(await read("DOMAIN")).toBe(there.domain);
	expect(await read("RECIPIENT")).toBe(toWord(vaultThere));
	expect(await read("MAX_FEE_BPS")).toBe(14n);
	const [perHour] = await chain.publicClient.readContract({
		address: vault,
		abi: geoVaultAbi,
		functionName: "capOf",
		args: [bridgeCap, deployment.settlementToken, route],
	});
	expect(perHour).toBe(5_000_000n);
	const again: StepReport[] = [];
	expect(await deploy(configWith(), (report) => void again.push(report))).toEqual(deployment);
	expect(again.filter(({ outcome }) => outcome !== "already done")).toEqual([]);
});

test("a route that is added after the hand-over is deployed, and its cap is left to CONFIG", async () => {
	await deploy(config);
	const error = await deploy(configWith()).catch((error) => error);
	expect(error).toBeInstanceOf(DeployError);
	expect(error.message).toContain(`the cap on the route to chain ${there.chain.chainId} is 5000000`);
	expect(error.next).toContain("have a member of CONFIG schedule this");
});

test("contracts that are not Circle's of this chain are refused before anything is sent", async () => {
	// Another transmitter with the right domain.
	const other = newAddress();
	const code = await chain.publicClient.getCode({ address: here.messageTransmitter });
	await chain.testClient.setCode({ address: other, bytecode: code ?? "0x" });
	for (const [message, wrong] of [
		["has the domain 0", configWith({ domain: 77 })],
		["there is no contract at", configWith({ messageTransmitter: newAddress() })],
		["does not answer", configWith({ messageTransmitter: here.tokenMessenger })],
		["uses the transmitter", configWith({ messageTransmitter: other })],
		["does not know the domain 55", configWith({}, { domain: 55 })],
	] as const) {
		const error = await deploy(wrong).catch((error) => error);
		expect(error).toBeInstanceOf(DeployError);
		expect(error.message).toContain(message);
	}
	expect(await chain.publicClient.getTransactionCount({ address: deployer.address })).toBe(0);
});

test("a route to the chain itself, or with its domain, is refused", () => {
	const route = { domain: there.domain, vault: vaultThere, maxFeeBps: 14, capPerHour: "1" };
	const routes = { [chain.chainId]: route };
	expect(() => parseDeployConfig(configWith({ routes }))).toThrow("a route leads to another chain");
	expect(() => parseDeployConfig(configWith({}, { domain: here.domain }))).toThrow(
		"a route leads to another chain",
	);
	expect(() => parseDeployConfig(configWith({}, { vault: vaultThere.toLowerCase() }))).toThrow("checksum");
	expect(() => parseDeployConfig(configWith({}, { maxFeeBps: 101 }))).toThrow("maxFeeBps");
});
