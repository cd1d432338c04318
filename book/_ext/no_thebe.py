"""Jupyter Book always loads sphinx_thebe, whose script fails when it is added twice and points to another host. We do not use it."""


def setup(app):
    for listeners in app.events.listeners.values():
        listeners[:] = [entry for entry in listeners if not entry.handler.__module__.startswith("sphinx_thebe")]
    for files in (app.registry.css_files, app.registry.js_files):
        files[:] = [entry for entry in files if "thebe" not in str(entry[0])]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
