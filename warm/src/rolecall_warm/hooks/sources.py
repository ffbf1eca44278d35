"""What the hooks rely on in ansible-core and Jinja: functions that they replace, copy or count upon.

One list for each adapter (`core_2_18`, `core_2_19`, `core_2_21`), and one for all. `digests.json` says
which digests of them were read.
"""

from __future__ import annotations

OLDEST = (2, 18)
# From this release of ansible-core on, the adapter of that name is used.
FAMILIES = {(2, 18): "2.18", (2, 19): "2.19", (2, 21): "2.21"}

_ACTION = "ansible.plugins.action:ActionBase"
_FINDER = "ansible.utils.collection_loader._collection_finder:_AnsibleCollectionFinder"
_FIELDS = "ansible.playbook.base:FieldAttributeBase"
_EVERYWHERE = (
    "ansible.plugins.strategy:StrategyBase._queue_task",
    "ansible.plugins.strategy:StrategyBase._wait_on_pending_results",
    "ansible.plugins.strategy:results_thread_main",
    "ansible.executor.process.worker:WorkerProcess.__init__",
    "ansible.executor.process.worker:WorkerProcess.run",
    "ansible.executor.process.worker:WorkerProcess._run",
    "ansible.executor.task_executor:TaskExecutor.__init__",
    "ansible.executor.task_executor:TaskExecutor.run",
    "ansible.executor.task_queue_manager:FinalQueue",
    "ansible.executor.task_queue_manager:TaskQueueManager.has_dead_workers",
    "ansible.executor.task_queue_manager:TaskQueueManager._cleanup_processes",
    "ansible.executor.task_queue_manager:TaskQueueManager.load_callbacks",
    f"{_ACTION}._execute_module",
    f"{_ACTION}._configure_module",
    f"{_ACTION}._make_tmp_path",
    f"{_ACTION}._remove_tmp_path",
    f"{_ACTION}._should_remove_tmp_path",
    f"{_ACTION}._update_module_args",
    f"{_ACTION}._compute_environment_string",
    f"{_ACTION}._parse_returned_data",
    f"{_ACTION}._remote_expand_user",
    f"{_ACTION}._low_level_execute_command",
    "ansible.executor.module_common:_find_module_utils",
    "ansible.executor.module_common:_get_shebang",
    "ansible.executor.module_common:_is_binary",
    "ansible.executor.module_common:modify_module",
    "ansible.module_utils.common.warnings:warn",
    "ansible.module_utils.common.warnings:deprecate",
    "ansible.module_utils.basic:_load_params",
    "ansible.module_utils.basic:AnsibleModule._return_formatted",
    "ansible.utils.display:_synchronize_textiowrapper",
    "ansible.utils.display:Display.__init__",
    "ansible.utils.display:Display.set_queue",
    "ansible.utils.display:Display._proxy",
    "ansible.utils.display:Display._set_column_width",
    "ansible.utils.vars:get_unique_id",
    "ansible.plugins.loader:_configure_collection_loader",
    "ansible.plugins.loader:init_plugin_loader",
    "ansible.plugins.loader:PluginLoader.__init__",
    "ansible.plugins.loader:PluginLoader._clear_caches",
    "ansible.plugins.loader:PluginLoader._find_plugin_legacy",
    "ansible.plugins.loader:PluginLoader._load_module_source",
    "ansible.plugins.loader:PluginLoader._load_config_defs",
    "ansible.plugins.loader:PluginLoader._all_directories",
    "ansible.plugins.loader:PluginLoader._get_package_paths",
    "ansible.plugins.loader:PluginLoader._get_paths_with_context",
    "ansible.plugins.loader:PluginLoader.get_with_context",
    "ansible.parsing.dataloader:DataLoader.load",
    "ansible.parsing.dataloader:DataLoader.load_from_file",
    f"{_FINDER}.__init__",
    f"{_FINDER}.set_playbook_paths",
    "ansible.plugins.loader:Jinja2Loader.get_with_context",
    "ansible.plugins.loader:Jinja2Loader._ensure_non_collection_wrappers",
    "ansible.plugins.connection.local:Connection.exec_command",
    "ansible.cli:CLI.cli_executor",
    "ansible.cli:CLI.run",
    "ansible.cli:CLI.parse",
    "ansible.cli.playbook:PlaybookCLI.init_parser",
    "ansible.cli.playbook:PlaybookCLI.run",
    "ansible.playbook.attribute:Attribute.__set__",
    f"{_FIELDS}.copy",
    f"{_FIELDS}.post_validate",
    "ansible.playbook.task:Task.copy",
    "ansible.vars.clean:clean_facts",
    "ansible.config.manager:ConfigManager.get_config_value_and_origin",
    "jinja2.environment:Environment.compile",
    "jinja2.environment:Environment.from_string",
    "jinja2.compiler:CodeGenerator._filter_test_common",
)
_SINCE_2_19 = (
    "ansible._internal._json:AnsibleVariableVisitor._visit",
    "ansible._internal._templating._engine:TemplateEngine.transform",
    "ansible._internal._templating._jinja_bits:_finalize_collection",
    "ansible._internal._templating._jinja_bits:_finalize_dict",
    "ansible._internal._templating._jinja_bits:_finalize_list",
    "ansible._internal._templating._jinja_bits:_finalize_template_result",
    "ansible.utils.vars:transform_to_native_types",
    "ansible.executor.process.worker:WorkerProcess._detach",
    "ansible.module_utils._internal._ansiballz._loader:run_module",
    "ansible.module_utils._internal._ansiballz._loader:_run_module",
    "ansible.module_utils._internal._ansiballz._loader:_handle_exception",
    "ansible._internal._ansiballz._wrapper:_ansiballz_main",
    "ansible.module_utils.common.warnings:error_as_warning",
    "ansible.module_utils._internal._traceback:_is_module_traceback_enabled",
    "ansible._internal._templating._jinja_plugins:JinjaPluginIntercept.__getitem__",
    "ansible._internal._templating._jinja_plugins:_invoke_lookup",
    "ansible._internal._templating._jinja_plugins:_now",
    "ansible._internal._templating._jinja_bits:AnsibleEnvironment",
    "ansible._internal._templating._jinja_bits:AnsibleLexer",
    "ansible._internal._templating._jinja_bits:AnsibleCodeGenerator",
    "ansible._internal._templating._jinja_bits:TemplateOverrides",
    "ansible._internal._templating._engine:TemplateEngine._compile_template",
    "ansible._internal._templating._engine:TemplateEngine._compile_expression",
    "ansible._internal._templating._engine:TemplateEngine.template",
    f"{_FIELDS}.post_validate_attribute",
    f"{_FIELDS}._get_validated_value",
    "jinja2.environment:Environment.compile_expression",
)
_BY_FAMILY = {
    "2.18": (
        "ansible.plugins.strategy:StrategyBase.normalize_task_result",
        "ansible.executor.task_result:TaskResult.__init__",
        "ansible.executor.module_common:_extract_interpreter",
        "ansible.template:AnsibleEnvironment",
        "ansible.template:JinjaPluginIntercept.__getitem__",
        "ansible.template:Templar.do_template",
        "ansible.template:Templar._lookup",
        "ansible.template:Templar._now_datetime",
        "ansible.template:_escape_backslashes",
        "ansible.template:_create_overlay",
    ),
    "2.19": (
        *_SINCE_2_19,
        "ansible._internal._task:TaskContext",
        "ansible.plugins.strategy:StrategyBase._convert_wire_task_result_to_raw",
    ),
    "2.21": (
        *_SINCE_2_19,
        "ansible.plugins.strategy:StrategyBase._convert_wire_task_result_to_host_task_result",
        "ansible.plugins.strategy:StrategyBase._process_rpc_queue",
        "ansible._internal._task:TaskContext.create",
        "ansible._internal._task:WireTaskResult.create",
        "ansible._internal._task:UnifiedTaskResult.as_result_dict",
        "ansible._internal._task:UnifiedTaskResult.remove_internal_keys",
        "ansible._internal._worker._inventory_rpc:InventoryRPC",
    ),
}


def family_of(version: str) -> str:
    """The adapter for this release of ansible-core; the newest one for those still to come."""
    numbers = tuple(int(part) if part.isdigit() else 0 for part in version.split(".")[:2])
    fitting = [family for since, family in FAMILIES.items() if numbers >= since]
    return fitting[-1] if fitting else ""


def sources_of(family: str) -> tuple[str, ...]:
    """What its adapter relies on, as `module:name`."""
    return (*_EVERYWHERE, *_BY_FAMILY[family])
