import { fromSwapId } from "@geoswap/protocol";
import { connectDatabase } from "../environment/connect-database.ts";

/**
 * Holds back a swap that is about to be submitted. No lane takes its jobs, or its job of the given kind. Only this swap
 * waits, and continues once released.
 */
export async function holdBack(
	databaseUrl: string,
	swapId: string,
	{ kind }: { kind?: "fill" } = {},
): Promise<{ release: () => Promise<void> }> {
	const uuid = fromSwapId(swapId);
	const name = `hold_back_${uuid?.replaceAll("-", "")}`;
	const database = await connectDatabase(databaseUrl);
	await database.query(
		`create function ${name}() returns trigger language plpgsql as $$ begin
			new.not_before_block := 9007199254740991;
			new.updated_at := now() + interval '1 day';
			return new;
		end $$`,
	);
	const isHeld = `new.swap_id = '${uuid}'${kind ? ` and new.kind = '${kind}'` : ""}`;
	await database.query(
		`create trigger ${name} before insert on jobs for each row when (${isHeld}) execute function ${name}()`,
	);
	return {
		release: async () => {
			await database.query(`drop function ${name} cascade`);
			await database.query(
				"update jobs set not_before_block = 0, updated_at = now() - interval '1 second' where swap_id = $1",
				[uuid],
			);
			await database.end();
		},
	};
}
