import type { Command } from "commander";

const actor = [
	"--actor <name>",
	"who makes the change, for the history; this machine's user by default",
] as const;
const json = ["--json", "print the result as JSON"] as const;
const id = ["<id>", "the key's id: the part between its underscores"] as const;
const rate = "requests per second, instead of the configured limit: quote=100";
const held = "status calls held concurrently, instead of the configured limit";
const maxUsdPerDay =
	"maximum value of the account's swaps in 24 hours, instead of the configured limit: US dollars or none";

export function defineAccountsCommands(program: Command): void {
	const accounts = program.command("accounts").description("the accounts that API keys belong to");
	accounts
		.command("create")
		.description("create an account; all its keys can read its swaps")
		.argument("<name>", "its name, at most 64 printable characters")
		.option(...actor)
		.option(...json)
		.action(async (name, options) => {
			const { createAccountCommand } = await import("./accounts-commands.ts");
			await createAccountCommand({ name, ...options });
		});
	accounts
		.command("list")
		.description("list all accounts, and how many valid keys each has")
		.option(...json)
		.action(async (options) => {
			const { listAccountsCommand } = await import("./accounts-commands.ts");
			await listAccountsCommand(options);
		});
}

export function defineKeysCommands(program: Command): void {
	const keys = program.command("keys").description("API keys of accounts");
	keys
		.command("create")
		.description("create a key; it is shown once")
		.requiredOption("--account <name>", "the account's name; the account is created if it does not exist")
		.option("--rate <operation=number...>", rate)
		.option("--held <number>", held)
		.option("--max-usd-per-day <amount>", maxUsdPerDay)
		.option("--expires <when>", "when the key expires: after 90d, or on 2027-01-31; never by default")
		.option("--count <number>", "create several keys with the same limits; in JSON they are an array")
		.option(...actor)
		.option(...json)
		.action(async (options) => {
			const { createKeyCommand } = await import("./keys-commands.ts");
			await createKeyCommand(options);
		});
	keys
		.command("list")
		.description("list keys without their secrets: state, last use, expiry")
		.option("--account <name>", "only keys of this account")
		.option(...json)
		.action(async (options) => {
			const { listKeysCommand } = await import("./keys-commands.ts");
			await listKeysCommand(options);
		});
	keys
		.command("rotate")
		.description("replace a key by a new one, which is shown once; the old key stays valid for a while")
		.argument(...id)
		.option("--overlap <duration>", "how long the old key stays valid: 0s, 30m, 24h, 7d", "24h")
		.option(
			"--expires <when>",
			"when the new key expires: 90d, 2027-01-31 or never; required if the old key expires",
		)
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { rotateKeyCommand } = await import("./keys-commands.ts");
			await rotateKeyCommand({ id, ...options });
		});
	keys
		.command("revoke")
		.description("revoke a key permanently; every API process follows within two seconds")
		.argument(...id)
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { revokeKeyCommand } = await import("./keys-commands.ts");
			await revokeKeyCommand({ id, ...options });
		});
	keys
		.command("limits")
		.description("change limits of a key; limits that are not named stay as they are")
		.argument(...id)
		.option("--rate <operation=number...>", `${rate}; quote=default restores the configured limit`)
		.option("--held <number>", `${held}; default restores it`)
		.option("--max-usd-per-day <amount>", `${maxUsdPerDay}; default restores it`)
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { limitKeyCommand } = await import("./keys-commands.ts");
			await limitKeyCommand({ id, ...options });
		});
	keys
		.command("expire")
		.description("change when a key expires")
		.argument(...id)
		.option("--at <time>", "expires at this time: 2027-01-31 or 2027-01-31T12:00:00Z")
		.option("--in <duration>", "expires after this time: 24h, 90d")
		.option("--never", "does not expire")
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { expireKeyCommand } = await import("./keys-commands.ts");
			await expireKeyCommand({ id, ...options });
		});
	keys
		.command("history")
		.description(
			"list who changed which account or key, when and how; changes made by hand in the database too",
		)
		.option("--account <name>", "only changes of this account and its keys")
		.option("--key <id>", "only changes of this key")
		.option("--limit <number>", "maximum number of changes, newest first", "100")
		.option(...json)
		.action(async (options) => {
			const { keyHistoryCommand } = await import("./keys-commands.ts");
			await keyHistoryCommand(options);
		});
	keys
		.command("scan")
		.description("search files or standard input for API keys")
		.argument("[files...]", "files to search; - or no file is standard input")
		.option(...json)
		.addHelpText(
			"after",
			`
The checksum of each finding shows whether it is a key. With DATABASE_URL and GEOSWAP_API_KEY_PEPPER set, the output also says which keys are valid.
Exit codes: 0 no usable key was found, 1 at least one was, 2 wrong input, 3 the keys could not be checked.`,
		)
		.action(async (files, options) => {
			const { scanKeysCommand } = await import("./keys-scan-command.ts");
			process.exitCode = await scanKeysCommand({ files, ...options });
		});
}
