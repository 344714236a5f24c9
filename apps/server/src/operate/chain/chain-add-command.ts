import { type Address, getAddress, isAddress } from "viem";
import { ConfigError } from "../../config/config-error.ts";
import { parsePrivateKey } from "../../config/secrets.ts";
import { addChain, type StepReport } from "./add/add-chain.ts";
import { describeStep } from "./add/describe-step.ts";
import { applySettings, expectEvm } from "./apply-settings.ts";
import { readPreset } from "./read-presets.ts";

type Options = {
	name: string;
	config: string;
	rpc: string[];
	ws?: string[];
	owners: string;
	deployer?: string;
	account?: string;
	api?: string;
	inventoryUsd: string;
	set?: string[];
	without?: string[];
	dryRun?: boolean;
	json?: boolean;
};

const waitsForSomeone = 3;

/** Returns the exit code: 0 if the chain is offered, 1 if a step failed, 3 if an operator or owner must act first. */
export async function chainAddCommand(options: Options): Promise<number> {
	const { name, config, rpc, ws = [], owners, deployer, account, api, set = [], without = [] } = options;
	const { DEPLOYER_PRIVATE_KEY, GEOSWAP_CANARY_API_KEY, GEOSWAP_CANARY_PRIVATE_KEY } = process.env;
	const preset = applySettings(expectEvm(readPreset(name)), { settings: set, without });
	const say = options.json ? console.error : console.log;
	const reports: StepReport[] = [];
	say(`${preset.name} (chain ${preset.chainId})`);
	const last = await addChain(
		preset,
		{
			configPath: config,
			rpcUrls: rpc,
			webSocketUrls: ws,
			ownersPath: owners,
			deployerKey: key("DEPLOYER_PRIVATE_KEY", DEPLOYER_PRIVATE_KEY),
			deployer: deployer === undefined ? undefined : parseDeployer(deployer),
			accountId: account,
			apiUrl: api,
			apiKey: GEOSWAP_CANARY_API_KEY,
			walletKey: key("GEOSWAP_CANARY_PRIVATE_KEY", GEOSWAP_CANARY_PRIVATE_KEY),
			inventoryUsd: Number(options.inventoryUsd),
			isDryRun: options.dryRun ?? false,
			pollingIntervalMs: 250,
			nowMs: Date.now,
		},
		(report) => {
			reports.push(report);
			say(describeStep(report));
		},
	);
	if (options.json) console.log(JSON.stringify(reports));
	if (last.state === "failed") return 1;
	return last.state === "waiting" ? waitsForSomeone : 0;
}

function parseDeployer(text: string): Address {
	if (isAddress(text)) return getAddress(text);
	throw new ConfigError("--deployer", "is not an address, or its checksum is wrong");
}

function key(name: Parameters<typeof parsePrivateKey>[0], text: string | undefined) {
	return text === undefined || text === "" ? undefined : parsePrivateKey(name, text);
}
