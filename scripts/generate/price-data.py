"""Writes src/trace/price/default/prices.json from two Python wheels: the prices of genai-prices, and from litellm's price
file what they lack: tiers of Gemini, batches, 12-hour cache writes, geography, and fees of searches by context size.
Writes also test/golden/default-prices.json: what the calculator of genai-prices says for some models and counts.

    pip download --no-deps genai-prices==0.2.3 litellm==1.110.2 -d wheels
    python3 scripts/generate/price-data.py wheels
"""

import datetime
import json
import sys
import types
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / 'src/trace/price/default/prices.json'
GOLDEN = ROOT / 'test/golden/default-prices.json'
AT = datetime.datetime(2026, 10, 20, 12, tzinfo=datetime.timezone.utc)
MODELS = {
    'openai': 'gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini gpt-5 gpt-5-mini o3 o4-mini gpt-5.4 gpt-5.6-sol',
    'anthropic': 'claude-opus-4-1-20250805 claude-sonnet-4-20250514 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-5',
    'google': 'gemini-2.5-pro gemini-2.5-flash gemini-2.0-flash gemini-3-pro-preview gemini-2.5-flash-lite',
    'mistral': 'mistral-large-latest mistral-small-latest codestral-latest ministral-8b-latest',
    'deepseek': 'deepseek-chat deepseek-reasoner deepseek-v4-flash',
    'x-ai': 'grok-4 grok-3-mini grok-3',
    'aws': 'global.anthropic.claude-opus-5 amazon.nova-lite-v1:0',
}
COUNTS = [
    {'input_tokens': 1000, 'output_tokens': 500},
    {
        'input_tokens': 2560,
        'output_tokens': 75,
        'cache_read_tokens': 2000,
        'cache_write_tokens': 500,
        'cache_write_1h_tokens': 200,
    },
    {'input_tokens': 300_000, 'output_tokens': 1234, 'cache_read_tokens': 100_000},
]
CLAUSES = {
    'ClauseEquals': 'equals',
    'ClauseStartsWith': 'starts_with',
    'ClauseEndsWith': 'ends_with',
    'ClauseContains': 'contains',
    'ClauseRegex': 'regex',
}
PROVIDERS = {'anthropic': '', 'openai': '', 'google': 'gemini/'}
TOKEN_KEYS = {
    'input_mtok': 'input_cost_per_token',
    'output_mtok': 'output_cost_per_token',
    'cache_read_mtok': 'cache_read_input_token_cost',
    'cache_write_mtok': 'cache_creation_input_token_cost',
    'input_audio_mtok': 'input_cost_per_audio_token',
    'cache_audio_read_mtok': 'cache_read_input_audio_token_cost',
}
TIERS = {'flex': ('service_tier', 'flex'), 'priority': ('service_tier', 'priority'), 'batches': ('processing', 'batch')}


def wheel(folder, name):
    return next(Path(folder).glob(f'{name}-*.whl'))


def version(path):
    return path.name.split('-')[1]


def load_providers(path):
    """The provider list of the wheel. Its package is not imported whole, because that needs its HTTP client."""
    package = types.ModuleType('genai_prices')
    package.__path__ = [f'{path}/genai_prices']
    sys.modules['genai_prices'] = package
    sys.path.insert(0, str(path))
    from genai_prices.data import providers

    return providers


def number(value):
    """A decimal as a JSON number without rounding errors in its text."""
    text = format(value.normalize(), 'f')
    return int(text) if '.' not in text else float(text)


def clause(it):
    name = type(it).__name__
    if name in CLAUSES:
        return {CLAUSES[name]: getattr(it, CLAUSES[name])}
    key = 'or' if name == 'ClauseOr' else 'and'
    return {key: [clause(part) for part in getattr(it, f'{key}_')]}


def price(value):
    if not hasattr(value, 'tiers'):
        return number(value)
    tiers = [{'start': tier.start, 'price': number(tier.price)} for tier in value.tiers]
    return {'base': number(value.base), 'tiers': tiers}


def prices(value):
    return {key: price(it) for key, it in value.__dict__.items() if it is not None}


def constraint(it):
    if it is None:
        return {}
    if hasattr(it, 'start_date'):
        return {'since': it.start_date.isoformat()}
    return {'from': it.start_time.isoformat(), 'to': it.end_time.isoformat()}


def model(it):
    listed = it.prices if isinstance(it.prices, list) else None
    out = {
        'id': it.id,
        'match': clause(it.match),
        'prices': [{**constraint(one.constraint), 'prices': prices(one.prices)} for one in listed]
        if listed
        else [{'prices': prices(it.prices)}],
    }
    variants = [
        {'when': dict(one.when), **constraint(one.constraint), 'prices': prices(one.prices)}
        for one in it.price_variants or []
        if one.when != {'service_tier': 'default'}
    ]
    return {**out, 'variants': variants} if variants else out


def provider(it):
    out = {'id': it.id}
    if it.model_match is not None:
        out['model_match'] = clause(it.model_match)
    if it.fallback_model_providers:
        out['fallback'] = list(it.fallback_model_providers)
    return {**out, 'models': [model(one) for one in it.models]}


def compact(value):
    return json.dumps(value, separators=(',', ':'), ensure_ascii=False)


def provider_lines(it):
    """A line for each model, so that a change of prices shows in the history."""
    head = compact({key: value for key, value in it.items() if key != 'models'})[:-1]
    models = ',\n'.join(compact(one) for one in it['models'])
    return f'{head},"models":[\n{models}\n]}}'


def per_million(dollars):
    return float(f'{dollars * 1e6:.10g}')


def rate(entry, name, suffix):
    """The price of a million tokens, with the tier above a number of tokens if there is one."""
    base = entry.get(f'{name}_{suffix}' if suffix else name)
    if not isinstance(base, (int, float)):
        return None
    for key, value in entry.items():
        start, _, end = key.removeprefix(f'{name}_above_').partition('k_tokens')
        if key.startswith(f'{name}_above_') and start.isdigit() and end == (f'_{suffix}' if suffix else ''):
            return {'base': per_million(base), 'tiers': [{'start': int(start) * 1000, 'price': per_million(value)}]}
    return per_million(base)


def supplement(listed, entry):
    known = [variant['when'] for variant in listed.get('variants', [])]
    added = []
    for suffix, (condition, value) in TIERS.items():
        found = {key: rate(entry, name, suffix) for key, name in TOKEN_KEYS.items()}
        found = {key: it for key, it in found.items() if it is not None}
        if found and {condition: value} not in known:
            added.append({'when': {condition: value}, 'prices': found})
    for condition, value in (('inference_geo', 'us'),):
        factor = (entry.get('provider_specific_entry') or {}).get(value)
        if factor and {condition: value} not in known:
            added.append({'when': {condition: value}, 'factor': factor})
    sizes = entry.get('search_context_cost_per_query') or {}
    if len(set(sizes.values())) > 1:
        for size in ('low', 'medium', 'high'):
            fee = sizes.get(f'search_context_size_{size}')
            if fee is not None:
                added.append({'when': {'search_context_size': size}, 'prices': {'web_searches_kcount': fee * 1000}})
    if added:
        listed['variants'] = listed.get('variants', []) + [{**it, 'source': 'litellm'} for it in added]
    written = rate(entry, 'cache_creation_input_token_cost_above_12hr', '')
    if written is not None:
        for one in listed['prices']:
            one['prices'].setdefault('cache_write_12h_mtok', written)


def main(folder):
    genai, litellm = wheel(folder, 'genai_prices'), wheel(folder, 'litellm')
    loaded = load_providers(genai)
    providers = [provider(it) for it in loaded]
    golden(loaded)
    with zipfile.ZipFile(litellm) as archive:
        entries = json.loads(archive.read('litellm/model_prices_and_context_window_backup.json'))
    for it in providers:
        for listed in it['models']:
            prefix = PROVIDERS.get(it['id'])
            entry = None if prefix is None else entries.get(prefix + listed['id']) or entries.get(listed['id'])
            if entry:
                supplement(listed, entry)
    sources = [
        {'package': 'genai-prices', 'version': version(genai), 'licence': 'MIT', 'owner': 'Pydantic Services Inc.'},
        {'package': 'litellm', 'version': version(litellm), 'licence': 'MIT', 'owner': 'Berri AI'},
    ]
    OUT.parent.mkdir(exist_ok=True)
    lines = ',\n'.join(provider_lines(it) for it in providers)
    OUT.write_text(f'{{"sources":{json.dumps(sources)},\n"providers":[\n{lines}\n]}}\n')


def golden(providers):
    from genai_prices.types import Usage

    cases = []
    for one in providers:
        for name in MODELS.get(one.id, '').split():
            listed = next(it for it in one.models if it.is_match(name))
            for counts in COUNTS:
                cost = listed.calc_price(Usage(**counts), one, genai_request_timestamp=AT)
                sides = {side: str(getattr(cost, f'{side}_price')) for side in ('input', 'output', 'total')}
                cases.append({'provider': one.id, 'model': name, 'id': listed.id, 'counts': counts, **sides})
    lines = ',\n'.join(json.dumps(it) for it in cases)
    GOLDEN.write_text(f'{{"at":"{AT.isoformat()}","cases":[\n{lines}\n]}}\n')


main(sys.argv[1])
